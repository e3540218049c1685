// Grades day06-llm-attention/08-hopper-attention: what packed and paged calls refuse,
// when they have nothing to do, and heads of 4 GB.
#include <wb/testing/attention_sizes.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "hopper_grading.h"
#include "packed_grading.h"

namespace {

using namespace hopper_grading;
using T = __nv_bfloat16;

/// The arguments of a packed or paged call, all right.
struct PackedCall {
    PackedShape shape{1, 2, 1, 4, 4, 4, 64};
    wb::PagedCache cache;
    const T *q, *k, *v;
    T* o;
    float* lse = nullptr;
    const int32_t *query_starts, *key_starts;
};

/// Calls of both functions, with one argument that is wrong. What o holds stays.
class Refusals {
 public:
    Refusals() : memory_("hopper_attention_packed", "wrong arguments"), workspace_(1) {
        const auto batch = make_batch<T>({{4, 4}}, 2, 1, 64, false);
        good_.cache = cache_on_device(memory_, in_pages(batch, 16, 0));
        good_.q = memory_.input("q", rounded<T>(batch.inputs[0].q));
        good_.k = memory_.input("k", rounded<T>(batch.inputs[0].k));
        good_.v = memory_.input("v", rounded<T>(batch.inputs[0].v));
        good_.query_starts = memory_.input("query_starts", batch.query_starts);
        good_.key_starts = memory_.input("key_starts", batch.key_starts);
        good_.o = memory_.in_out<T>(
            "o", {4 * 2 * 64}, std::vector<T>(4 * 2 * 64, static_cast<T>(1.0f)));
    }

    void packed(const std::string& part,
                const std::function<void(PackedCall&)>& spoil) {
        expect("hopper_attention_packed", part, spoil, [](const PackedCall& c) {
            hopper_attention_packed(c.shape,
                                    c.q,
                                    c.k,
                                    c.v,
                                    c.query_starts,
                                    c.key_starts,
                                    c.o,
                                    c.lse,
                                    nullptr);
        });
    }
    void paged(const std::string& part, const std::function<void(PackedCall&)>& spoil) {
        expect("hopper_attention_paged", part, spoil, [&](const PackedCall& c) {
            hopper_attention_paged(
                c.shape, c.cache, c.q, c.query_starts, c.o, c.lse, workspace_, nullptr);
        });
    }
    void both(const std::string& part, const std::function<void(PackedCall&)>& spoil) {
        packed(part, spoil);
        paged(part, spoil);
    }
    void nothing_written() {
        CUDA_CHECK(cudaDeviceSynchronize());
        memory_.expect(
            "o", std::vector<double>(4 * 2 * 64, 1.0), [](int64_t) { return 0.0; });
    }

 private:
    void expect(const std::string& name,
                const std::string& part,
                const std::function<void(PackedCall&)>& spoil,
                const std::function<void(const PackedCall&)>& call) {
        PackedCall wrong = good_;
        spoil(wrong);
        expect_refused(name, part, part, [&] { call(wrong); });
        if (!part.starts_with("shape.")) return;
        // That there is nothing to do makes it no right one.
        for (int64_t PackedShape::*const none :
             {&PackedShape::total_queries, &PackedShape::max_queries}) {
            wrong = good_;
            wrong.shape.*none = 0;
            spoil(wrong);
            expect_refused(
                name, "without queries: " + part, part, [&] { call(wrong); });
        }
    }

    Grader memory_;
    wb::PagedWorkspace workspace_;
    PackedCall good_;
};

}  // namespace

TEST_CASE("packed and paged: wrong arguments are refused by name") {
    NEEDS_HOPPER();
    Refusals refused;
    using Call = PackedCall;
    refused.both("shape.sequences is -1", [](Call& c) { c.shape.sequences = -1; });
    refused.packed("shape.sequences is 4294967297",
                   [](Call& c) { c.shape.sequences += int64_t{1} << 32; });
    refused.both("shape.kv_heads is 0", [](Call& c) { c.shape.kv_heads = 0; });
    refused.both("shape.total_queries is -4",
                 [](Call& c) { c.shape.total_queries = -4; });
    refused.both("shape.max_queries is -1", [](Call& c) { c.shape.max_queries = -1; });
    refused.both("shape.head_dim is 32", [](Call& c) { c.shape.head_dim = 32; });
    // A size cut to 32 bits would be right.
    constexpr int64_t kInt = int64_t{1} << 32;
    refused.both("shape.head_dim is 4294967360",
                 [](Call& c) { c.shape.head_dim += kInt; });
    refused.both("shape.query_heads is 2", [](Call& c) { c.shape.kv_heads += kInt; });
    refused.both("shape.total_queries is 4294967300",
                 [](Call& c) { c.shape.total_queries = kInt + 4; });
    refused.both("shape.total_keys is 4294967300",
                 [](Call& c) { c.shape.total_keys += kInt; });
    refused.both("shape.scale is -0.5", [](Call& c) { c.shape.scale = -0.5f; });
    for (const float scale : {NAN, INFINITY, 0x1.8p127f})
        refused.both("shape.scale is ", [=](Call& c) { c.shape.scale = scale; });
    refused.both("shape.total_keys is -4", [](Call& c) { c.shape.total_keys = -4; });
    refused.both("shape.total_keys is 2147483648",
                 [](Call& c) { c.shape.total_keys = int64_t{1} << 31; });
    refused.both("shape.total_queries is 2147483648",
                 [](Call& c) { c.shape.total_queries = int64_t{1} << 31; });
    refused.both("shape.query_stride is -128",
                 [](Call& c) { c.shape.query_stride = -128; });
    refused.both("shape.kv_stride is -128", [](Call& c) { c.shape.kv_stride = -128; });
    refused.both("shape.kv_stride is 68", [](Call& c) { c.shape.kv_stride = 68; });
    refused.packed("shape.kv_stride is 64", [](Call& c) {
        c.shape.kv_heads = c.shape.total_keys = 2;
        c.shape.kv_stride = 64;
    });
    refused.paged("shape.sequences is 2", [](Call& c) { c.shape.sequences = 2; });
    refused.paged("shape.kv_heads is 2", [](Call& c) { c.shape.kv_heads = 2; });
    refused.paged("shape.head_dim is 128", [](Call& c) { c.shape.head_dim = 128; });

    static T host[4 * 2 * 64] = {};
    static const int32_t starts[2] = {0, 4};
    void* pinned = nullptr;  // the host's, although a kernel could use it
    CUDA_CHECK(cudaMallocHost(&pinned, sizeof host));
    const auto pointer = [&](const std::string& name, bool is_packed, auto member) {
        const auto with = [&](const std::string& what, auto change) {
            const auto spoil = [&](Call& c) { change(c.*member); };
            refused.packed(name + " is " + what, spoil);
            if (!is_packed) refused.paged(name + " is " + what, spoil);
        };
        with("a null pointer", [](auto& p) { p = nullptr; });
        with("a host pointer", [](auto& p) { p = host; });
        with("a host pointer", [=](auto& p) { p = static_cast<T*>(pinned); });
        with("not aligned", [](auto& p) { p += 4; });
    };
    pointer("q", false, &Call::q);
    pointer("k", true, &Call::k);
    pointer("v", true, &Call::v);
    pointer("o", false, &Call::o);
    refused.both("query_starts is a null pointer",
                 [](Call& c) { c.query_starts = nullptr; });
    for (const auto* of_host : {starts, static_cast<const int32_t*>(pinned)}) {
        refused.both("query_starts is a host pointer",
                     [=](Call& c) { c.query_starts = of_host; });
        refused.packed("key_starts is a host pointer",
                       [=](Call& c) { c.key_starts = of_host; });
    }
    const auto misaligned = [](const int32_t*& p) {
        p = reinterpret_cast<const int32_t*>(reinterpret_cast<const char*>(p) + 2);
    };
    refused.both("query_starts is not aligned",
                 [&](Call& c) { misaligned(c.query_starts); });
    refused.packed("key_starts is not aligned",
                   [&](Call& c) { misaligned(c.key_starts); });
    refused.packed("key_starts is a null pointer",
                   [](Call& c) { c.key_starts = nullptr; });
    refused.both("lse is a host pointer",
                 [](Call& c) { c.lse = reinterpret_cast<float*>(host); });
    refused.both("lse is not aligned",
                 [](Call& c) { c.lse = reinterpret_cast<float*>(c.o + 1); });
    refused.paged("cache.k is a null pointer", [](Call& c) { c.cache.k = nullptr; });
    refused.paged("cache.v is a host pointer", [](Call& c) { c.cache.v = host; });
    refused.paged("cache.v is ", [](Call& c) { c.cache.v += 4; });  // not aligned
    refused.paged("cache.block_table is a host pointer",
                  [](Call& c) { c.cache.block_table = starts; });
    refused.paged("cache.lengths is a host pointer",
                  [](Call& c) { c.cache.lengths = starts; });
    for (const int64_t size : {8, 48, 512})
        refused.paged("cache.page_size is " + std::to_string(size),
                      [=](Call& c) { c.cache.page_size = size; });
    refused.paged("cache.head_dim is 256",
                  [](Call& c) { c.shape.head_dim = c.cache.head_dim = 256; });
    refused.paged("pages_per_sequence * page_size is ",
                  [](Call& c) { c.cache.pages_per_sequence = int64_t{1} << 28; });
    refused.paged("cache.num_pages is 2147483648",
                  [](Call& c) { c.cache.num_pages = int64_t{1} << 31; });
    refused.paged("cache.num_pages is 0", [](Call& c) { c.cache.num_pages = 0; });
    CUDA_CHECK(cudaFreeHost(pinned));
    refused.nothing_written();
}

TEST_CASE("each layout: a GPU of compute capability 8.9 is refused") {
    NEEDS_HOPPER();
    Refusals refused;
    const wb::testing::OlderGpu older(89);
    refused.both("capability", [](PackedCall&) {});
    Grader memory("hopper_attention", "compute capability 8.9");
    void* const d = memory.output<T>("d", {256});
    const auto dense = [&](auto* p) {
        expect_refused("hopper_attention", "compute capability 8.9", "capability", [&] {
            hopper_attention(
                plain_attention(1, 1, 4, 4, 64), p, p, p, p, nullptr, nullptr);
        });
    };
    dense(static_cast<T*>(d));
    dense(static_cast<__half*>(d));
}

TEST_CASE("packed: pointers of fp16, too, are refused by name") {
    NEEDS_HOPPER();
    Grader memory("hopper_attention_packed", "wrong pointers of fp16");
    __half* const d = memory.output<__half>("d", {4 * 2 * 64});
    const int32_t* starts = memory.input("starts", std::vector<int32_t>{0, 4});
    static __half host[4 * 2 * 64] = {};
    const PackedShape shape{1, 2, 1, 4, 4, 4, 64};
    constexpr const char* kNames[] = {"q", "k", "v", "o"};
    for (size_t wrong = 0; wrong < std::size(kNames); ++wrong) {
        const auto refused = [&](__half* pointer, const char* what) {
            __half* p[] = {d, d, d, d};
            p[wrong] = pointer;
            const std::string part = std::string(kNames[wrong]) + " is " + what;
            expect_refused("hopper_attention_packed", part, part, [&] {
                hopper_attention_packed(
                    shape, p[0], p[1], p[2], starts, starts, p[3], nullptr, nullptr);
            });
        };
        refused(nullptr, "a null pointer");
        refused(host, "a host pointer");
        refused(d + 4, "not aligned");
    }
}

TEST_CASE("packed and paged: without queries nothing is launched") {
    NEEDS_HOPPER();
    Grader grade("hopper_attention_packed", "no sequences, or no queries");
    const auto batch = make_batch<T>({{0, 40}}, 1, 1, 64, false);
    wb::PagedCache cache = cache_on_device(grade, in_pages(batch, 16, 0));
    const wb::PagedWorkspace workspace(1);
    T* const none = nullptr;
    grade.expect_no_work([&](cudaStream_t stream) {
        for (const int64_t sequences : {1, 0}) {
            PackedShape shape = batch.shape;
            shape.sequences = cache.batch = sequences;
            hopper_attention_packed(
                shape, none, none, none, nullptr, nullptr, none, nullptr, stream);
            hopper_attention_paged(
                shape, cache, none, nullptr, none, nullptr, workspace, stream);
        }
        PackedShape shape = batch.shape;
        shape.total_queries = 5;
        shape.max_queries = 0;
        hopper_attention_packed(
            shape, none, none, none, nullptr, nullptr, none, nullptr, stream);
    });
}

/// Expects of a sequence its first rows; others may be right, too, or as they were.
/// @param query_of  the query that element i of the array belongs to
static void expect_first_rows(Grader& grade,
                              const Batch& batch,
                              const std::string& array,
                              const std::vector<double>& values,
                              const std::vector<double>& bounds,
                              const std::function<size_t(size_t)>& query_of) {
    const auto got = grade.read(array);
    const auto& starts = batch.query_starts;
    for (size_t i = 0; i < got.size(); ++i) {
        const auto query = static_cast<int32_t>(query_of(i));
        const auto next = std::upper_bound(starts.begin(), starts.end(), query);
        const bool is_past = query - next[-1] >= batch.shape.max_queries;
        if (is_past && std::isnan(got[i])) continue;
        if (got[i] == values[i]) continue;  // both infinite, too
        if (std::abs(got[i] - values[i]) <= bounds[i]) continue;
        wb::testing::fail(wb::testing::Kind::wrong_result,
                          array + " of query " + std::to_string(query) + " is " +
                              std::to_string(got[i]) + ", but should be " +
                              std::to_string(values[i]) + ": " + batch.text() +
                              ", max_queries " +
                              std::to_string(batch.shape.max_queries));
    }
    SUCCEED();  // counted by Catch2
}

TEST_CASE("packed and paged: of a sequence longer than max_queries, the first rows") {
    NEEDS_HOPPER();
    const wb::PagedWorkspace workspace(1);
    // With a mask, where its last row is counts for the first ones, too.
    for (const auto& [most, causal] :
         {std::pair{4, true}, {4, false}, {130, false}, {130, true}}) {
        if (wb::testing::is_watched() && causal == (most == 130)) continue;
        auto batch =
            make_batch<T>({{3, 9}, {270, 30}, {20, 40}, {5, 7}}, 2, 1, 64, causal);
        const auto expected = expect_batch<T>(batch);
        for (const bool is_paged : {false, true}) {
            batch.shape.max_queries = most;
            const PackedShape& shape = batch.shape;
            Grader grade(
                is_paged ? "hopper_attention_paged" : "hopper_attention_packed",
                batch.text() + ", max_queries " + std::to_string(most));
            const wb::PagedCache cache = cache_on_device(grade, in_pages(batch, 16, 7));
            const auto rows = [&](const char* name, auto member, int64_t heads) {
                return grade.input(name,
                                   pack_rows<T>(batch, member, heads, heads * 64));
            };
            const T* q = rows("q", &AttentionInputs::q, 2);
            const T* k = rows("k", &AttentionInputs::k, 1);
            const T* v = rows("v", &AttentionInputs::v, 1);
            const auto* starts = grade.input("query_starts", batch.query_starts);
            const auto* key_starts = grade.input("key_starts", batch.key_starts);
            T* o = grade.output<T>("o", {298, 2, 64});
            float* lse = grade.output<float>("lse", {2, 298});
            grade.run([&](cudaStream_t s) {
                if (is_paged)
                    hopper_attention_paged(
                        shape, cache, q, starts, o, lse, workspace, s);
                else
                    hopper_attention_packed(
                        shape, q, k, v, starts, key_starts, o, lse, s);
            });
            expect_first_rows(
                grade, batch, "o", expected.o, expected.o_bound, [](size_t i) {
                    return i / (2 * 64);
                });
            expect_first_rows(
                grade, batch, "lse", expected.lse, expected.lse_bound, [](size_t i) {
                    return i % 298;
                });
        }
    }
}

TEST_CASE("paged: a fault of an earlier call changes nothing, and is kept") {
    NEEDS_HOPPER();
    auto batch = make_batch<T>({{3, 40}, {20, 30}}, 1, 1, 64, true);
    auto pages = in_pages(batch, 16, 7);
    for (const bool is_wrong : {false, true}) {  // this call has a fault of its own
        if (is_wrong) {
            pages.lengths[0] = -3;  // counts as 0
            batch.parts[0].keys = 0;
            batch.inputs[0].k.clear();
            batch.inputs[0].v.clear();
        }
        const wb::PagedWorkspace workspace(1);
        const wb::PagedStatus earlier{int32_t(wb::PagedFault::length), 1, 0, -7};
        CUDA_CHECK(cudaMemcpy(
            workspace.status(), &earlier, sizeof earlier, cudaMemcpyHostToDevice));
        Grader grade("hopper_attention_paged",
                     batch.text() + ", after a fault" + (is_wrong ? ", with one" : ""));
        const wb::PagedCache cache = cache_on_device(grade, pages);
        const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 1, 64));
        const auto* starts = grade.input("query_starts", batch.query_starts);
        T* o = grade.output<T>("o", {23, 64});
        float* lse = grade.output<float>("lse", {23});
        grade.run([&](cudaStream_t s) {
            hopper_attention_paged(batch.shape, cache, q, starts, o, lse, workspace, s);
        });
        expect_both(grade, expect_batch<T>(batch));
        std::string report;
        try {
            workspace.check(nullptr);
        } catch (const wb::PagedCacheError& error) {
            report = error.what();
        }
        wb::testing::expect_report("hopper_attention_paged",
                                   batch.text(),
                                   report,
                                   "sequence 1: its length is -7");
    }
}

TEST_CASE("rows and keys of one head past 2^31 elements", "[large][serial]") {
    NEEDS_HOPPER();
    // Graded first, so that what is not written yet says so, and is not skipped.
    grade(plain_attention(1, 1, 1, 1, 128));
#ifdef SIMT_CPU
    WB_SKIP("sixteen million keys of 128 numbers are too much for the simulator");
#else
    for (const auto& [name, idea, attention] : implementations_of<T>()) {
        wb::testing::grade_far_keys<T>(name, attention);
        wb::testing::grade_far_rows<T>(name, attention);
    }
#endif
}
