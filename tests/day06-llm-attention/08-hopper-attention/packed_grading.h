// packed_grading.h: sequences of different lengths, packed or in pages.
#pragma once
#include "hopper_grading.h"

#include <wb/testing/paged_workspace.h>

namespace hopper_grading {

/// Queries and keys of one sequence.
struct Lengths {
    int64_t queries;
    int64_t keys;
};

/// Problems of one size each, and where they begin in the packed tensors.
struct Batch {
    PackedShape shape;
    std::vector<AttentionShape> parts;
    std::vector<AttentionInputs> inputs;  ///< of each part, as stored, [heads, rows, D]
    std::vector<AttentionExpected> expected;  ///< of each part, or none: of the inputs
    std::vector<int32_t> query_starts = {0};
    std::vector<int32_t> key_starts = {0};
    std::string note;  ///< for the text: what the numbers are like

    std::string text() const {
        std::string result = "queries/keys";
        for (size_t s = 0; s < std::min(parts.size(), size_t{8}); ++s)
            result += " " + std::to_string(parts[s].queries) + "/" +
                      std::to_string(parts[s].keys);
        if (parts.size() > 8)
            result += " ... of " + std::to_string(parts.size()) + " sequences";
        return result + ", Hq" + std::to_string(shape.query_heads) + " Hkv" +
               std::to_string(shape.kv_heads) + " D" + std::to_string(shape.head_dim) +
               (shape.causal ? " causal" : "") + note;
    }
};

/// @param scale  0: the usual one
template <class T>
Batch make_batch(const std::vector<Lengths>& lengths,
                 int64_t query_heads,
                 int64_t kv_heads,
                 int64_t head_dim,
                 bool causal,
                 float scale = 0.0f) {
    Batch batch;
    PackedShape& shape = batch.shape;
    shape.sequences = static_cast<int64_t>(lengths.size());
    shape.query_heads = query_heads;
    shape.kv_heads = kv_heads;
    shape.head_dim = head_dim;
    shape.causal = causal;
    shape.scale = scale == 0.0f ? usual_scale(head_dim) : scale;
    for (const auto& [queries, keys] : lengths) {
        const AttentionShape part{
            1, query_heads, kv_heads, queries, keys, head_dim, causal, shape.scale};
        batch.parts.push_back(part);
        batch.inputs.push_back(
            as_stored<T>(random_attention(part, batch.inputs.size() + 1)));
        shape.total_queries += queries;
        shape.total_keys += keys;
        shape.max_queries = std::max(shape.max_queries, queries);
        batch.query_starts.push_back(static_cast<int32_t>(shape.total_queries));
        batch.key_starts.push_back(static_cast<int32_t>(shape.total_keys));
    }
    return batch;
}

/// Rows of all parts one after the other, [rows, heads, D], `stride` elements apart;
/// NaN lies between them.
template <class T>
std::vector<T> pack_rows(const Batch& batch,
                         std::vector<float> AttentionInputs::*member,
                         int64_t heads,
                         int64_t stride) {
    const int64_t D = batch.shape.head_dim;
    std::vector<T> result;
    for (size_t s = 0; s < batch.parts.size(); ++s) {
        const auto& values = batch.inputs[s].*member;
        const int64_t rows = static_cast<int64_t>(values.size()) / (heads * D);
        for (int64_t row = 0; row < rows; ++row) {
            for (int64_t e = 0; e < heads * D; ++e) {
                const int64_t from = (e / D * rows + row) * D + e % D;
                result.push_back(static_cast<T>(values[static_cast<size_t>(from)]));
            }
            result.resize(result.size() + static_cast<size_t>(stride - heads * D),
                          static_cast<T>(NAN));
        }
    }
    return result;
}

/// What is expected: o [total_queries, heads, D], lse [heads, total_queries].
template <class T>
AttentionExpected expect_batch(const Batch& batch) {
    const int64_t heads = batch.shape.query_heads;
    const int64_t D = batch.shape.head_dim;
    const int64_t total = batch.shape.total_queries;
    AttentionExpected all;
    for (auto* values : {&all.o, &all.o_bound})
        values->resize(static_cast<size_t>(total * heads * D));
    for (auto* values : {&all.lse, &all.lse_bound})
        values->resize(static_cast<size_t>(total * heads));
    for (size_t s = 0; s < batch.parts.size(); ++s) {
        const auto part = batch.expected.empty()
                              ? expect_half<T>(batch.parts[s], batch.inputs[s])
                              : batch.expected[s];
        const int64_t rows = batch.parts[s].queries;
        for (int64_t h = 0; h < heads; ++h) {
            for (int64_t row = 0; row < rows; ++row) {
                const auto from = static_cast<size_t>(h * rows + row);
                const int64_t at = batch.query_starts[s] + row;
                const auto to = static_cast<size_t>(h * total + at);
                all.lse[to] = part.lse[from];
                all.lse_bound[to] = part.lse_bound[from];
                for (size_t d = 0; d < static_cast<size_t>(D); ++d) {
                    const auto o_to = static_cast<size_t>((at * heads + h) * D) + d;
                    all.o[o_to] = part.o[from * static_cast<size_t>(D) + d];
                    all.o_bound[o_to] = part.o_bound[from * static_cast<size_t>(D) + d];
                }
            }
        }
    }
    return all;
}

/// hopper_attention_packed.
/// @param between      elements between the rows of q, and of k and v
/// @param with_lse     the log-sum-exp is wanted; else lse is null
/// @param same_stride  rows of k and v are as far apart as those of q, as in one
///                     projection
/// @param kv_between   elements between the rows of k and v, if not `between`
template <class T>
void grade_packed(Batch batch,
                  int64_t between = 0,
                  bool with_lse = true,
                  bool same_stride = false,
                  int64_t kv_between = -1) {
    if (kv_between < 0) kv_between = between;
    PackedShape& shape = batch.shape;
    const int64_t q_stride = shape.query_heads * shape.head_dim + between;
    const int64_t kv_stride =
        same_stride ? q_stride : shape.kv_heads * shape.head_dim + kv_between;
    if (between > 0) shape.query_stride = q_stride;
    if (same_stride || kv_between > 0) shape.kv_stride = kv_stride;
    Grader grade("hopper_attention_packed",
                 std::string(Format<T>::kName) + ", " + batch.text() +
                     (with_lse ? "" : ", lse = nullptr"));
    const auto rows = [&](const char* name, auto member, int64_t heads, int64_t apart) {
        return grade.input(
            name, pack_rows<T>(batch, member, heads, apart), Begin::vectors);
    };
    const T* q = rows("q", &AttentionInputs::q, shape.query_heads, q_stride);
    const T* k = rows("k", &AttentionInputs::k, shape.kv_heads, kv_stride);
    const T* v = rows("v", &AttentionInputs::v, shape.kv_heads, kv_stride);
    const int32_t* query_starts =
        grade.input("query_starts", batch.query_starts, Begin::anywhere);
    const int32_t* key_starts =
        grade.input("key_starts", batch.key_starts, Begin::anywhere);
    T* o = grade.output<T>(
        "o", {shape.total_queries, shape.query_heads, shape.head_dim}, Begin::vectors);
    float* lse = nullptr;
    if (with_lse)
        lse = grade.output<float>(
            "lse", {shape.query_heads, shape.total_queries}, Begin::anywhere);
    grade.run([&](cudaStream_t stream) {
        hopper_attention_packed(
            shape, q, k, v, query_starts, key_starts, o, lse, stream);
    });
    expect_both(grade, expect_batch<T>(batch), with_lse);
}

/// The same keys and values in pages, NaN where nobody wrote.
inline PagedInputs in_pages(const Batch& batch, int64_t page_size, uint64_t order) {
    PagedInputs pages;
    pages.shape.page_size = page_size;
    pages.shape.query_heads = batch.shape.query_heads;
    pages.shape.kv_heads = batch.shape.kv_heads;
    pages.shape.head_dim = batch.shape.head_dim;
    for (size_t s = 0; s < batch.parts.size(); ++s) {
        pages.lengths.push_back(static_cast<int32_t>(batch.parts[s].keys));
        pages.k.push_back(rounded<__nv_bfloat16>(batch.inputs[s].k));
        pages.v.push_back(rounded<__nv_bfloat16>(batch.inputs[s].v));
    }
    place_pages(pages, order);
    return pages;
}

/// What a call of hopper_attention_paged leaves.
struct PagedResult {
    std::string fault;           ///< what the workspace reports
    std::vector<double> o, lse;  ///< if nothing is expected of them
};

/// hopper_attention_paged. With an odd number of queries, other numbers lie between
/// their rows, and the workspace has no counters.
/// @param expected  null: only run it; the second sequence has a fault
/// @param with_lse  the log-sum-exp is wanted; else lse is null
inline PagedResult run_paged(const Batch& batch,
                             const PagedInputs& pages,
                             const AttentionExpected* expected,
                             bool with_lse = true) {
    using T = __nv_bfloat16;
    PackedShape shape = batch.shape;
    const int64_t q_row = shape.query_heads * shape.head_dim;
    if (shape.total_queries % 2 == 1) shape.query_stride = q_row + 24;
    // These two are not used.
    shape.total_keys = 0;
    shape.kv_stride = shape.kv_heads * shape.head_dim + 64;
    const wb::PagedWorkspace workspace(shape.total_queries % 2 == 1 ? 0 : 1);
    Grader grade("hopper_attention_paged",
                 batch.text() + ", pages of " + std::to_string(pages.shape.page_size) +
                     (with_lse ? "" : ", lse = nullptr"));
    const wb::PagedCache cache = cache_on_device(grade, pages);
    const T* q = grade.input("q",
                             pack_rows<T>(batch,
                                          &AttentionInputs::q,
                                          shape.query_heads,
                                          std::max(shape.query_stride, q_row)),
                             Begin::vectors);
    const int32_t* query_starts =
        grade.input("query_starts", batch.query_starts, Begin::anywhere);
    T* o = grade.output<T>(
        "o", {shape.total_queries, shape.query_heads, shape.head_dim}, Begin::vectors);
    float* lse = nullptr;
    if (with_lse)
        lse = grade.output<float>(
            "lse", {shape.query_heads, shape.total_queries}, Begin::anywhere);
    grade.run([&](cudaStream_t stream) {
        hopper_attention_paged(
            shape, cache, q, query_starts, o, lse, workspace, stream);
        if (expected != nullptr) return;
        // A call that finds nothing wrong forgets no fault: the first sequence again.
        PackedShape first_shape = shape;
        wb::PagedCache first_cache = cache;
        first_shape.sequences = first_cache.batch = 1;
        first_shape.total_queries = batch.query_starts[1];
        hopper_attention_paged(
            first_shape, first_cache, q, query_starts, o, nullptr, workspace, stream);
    });
    wb::testing::expect_no_counts("hopper_attention_paged", batch.text(), workspace);
    std::string fault;
    try {
        workspace.check(nullptr);
    } catch (const wb::PagedCacheError& error) {
        fault = error.what();
    }
    if (expected != nullptr) {
        wb::testing::expect_report("hopper_attention_paged", batch.text(), fault, "");
        expect_both(grade, *expected, with_lse);
        return {fault, {}, {}};
    }
    PagedResult result{fault, grade.read("o"), {}};
    if (with_lse) result.lse = grade.read("lse");
    return result;
}

inline void grade_paged(const Batch& batch, int64_t page_size, bool with_lse = true) {
    const auto expected = expect_batch<__nv_bfloat16>(batch);
    run_paged(batch, in_pages(batch, page_size, 7), &expected, with_lse);
}

}  // namespace hopper_grading
