// Grades day06-llm-attention/08-hopper-attention: calls in the arrays of an earlier
// one, from which they differ in one thing. What was prepared for that is wrong.
#include <wb/testing/simulator.h>

#include <algorithm>
#include <array>
#include <functional>

#include "hopper_grading.h"
#include "packed_grading.h"

namespace {

using namespace hopper_grading;
using T = __nv_bfloat16;

/// Which of two arrays a call takes: "elsewhere" is the second one.
struct Which {
    size_t q = 0, k = 0, v = 0, o = 0, lse = 0, tables = 0;
};

/// Two arrays of each kind, of numbers that differ.
class Arrays {
 public:
    Arrays(Grader& grade, int64_t outputs, int64_t inputs) {
        for (size_t i = 0; i < 2; ++i) {
            const std::string name = i == 0 ? "" : " elsewhere";
            const auto shape = plain_attention(1, 1, inputs, inputs, 1);
            numbers[i] = as_stored<T>(random_attention(shape, i + 1));
            q[i] = grade.input("q" + name, rounded<T>(numbers[i].q), Begin::vectors);
            k[i] = grade.input("k" + name, rounded<T>(numbers[i].k), Begin::vectors);
            v[i] = grade.input("v" + name, rounded<T>(numbers[i].v), Begin::vectors);
            o[i] = grade.output<T>("o" + name, {outputs}, Begin::vectors);
            lse[i] = grade.output<float>("lse" + name, {outputs / 64});
        }
    }
    AttentionInputs numbers[2];
    const T *q[2], *k[2], *v[2];
    T* o[2];
    float* lse[2];
};

/// Compares what the second call leaves.
void expect_in(Grader& grade,
               const Which& which,
               const AttentionExpected& expected,
               bool with_lse) {
    const auto in =
        [&](const std::string& name, size_t at, auto& values, auto& bounds) {
            grade.expect(at == 0 ? name : name + " elsewhere", values, [&](int64_t i) {
                return bounds[static_cast<size_t>(i)];
            });
        };
    in("o", which.o, expected.o, expected.o_bound);
    if (with_lse) in("lse", which.lse, expected.lse, expected.lse_bound);
}

/// A dense call, and one after it with a change.
struct DenseAgain {
    AttentionShape shape = plain_attention(2, 2, 20, 33, 64);
    Which which;
    bool with_lse = true;
};
void grade_dense(const char* what, const std::function<void(DenseAgain&)>& change) {
    const DenseAgain before;
    DenseAgain now;
    change(now);
    const AttentionShape& shape = now.shape;
    Grader grade("hopper_attention", describe(shape) + ", as before but for " + what);
    Arrays arrays(grade, before.shape.query_elements(), 2 * 2 * 33 * 64);
    const auto call = [&](const DenseAgain& c, cudaStream_t stream) {
        const Which& w = c.which;
        hopper_attention(c.shape,
                         arrays.q[w.q],
                         arrays.k[w.k],
                         arrays.v[w.v],
                         arrays.o[w.o],
                         c.with_lse ? arrays.lse[w.lse] : nullptr,
                         stream);
    };
    grade.run([&](cudaStream_t stream) {
        call(before, stream);
        call(now, stream);
    });
    const auto first = [](const std::vector<float>& values, int64_t n) {
        return std::vector<float>(values.begin(), values.begin() + n);
    };
    const AttentionInputs inputs = {
        first(arrays.numbers[now.which.q].q, shape.query_elements()),
        first(arrays.numbers[now.which.k].k, shape.kv_elements()),
        first(arrays.numbers[now.which.v].v, shape.kv_elements())};
    expect_in(grade, now.which, expect_half<T>(shape, inputs), now.with_lse);
}

/// Two sequences, packed or in pages of which the host knows the tables.
struct PackedAgain {
    PackedShape shape = {2, 2, 2, 29, 38, 20, 64};
    std::vector<int32_t> query_starts = {0, 20, 29};
    std::vector<int32_t> key_starts = {0, 33, 38};    ///< packed
    std::vector<int32_t> table = {5, 0, 2, 1, 3, 4};  ///< paged
    std::vector<int32_t> lengths = {33, 5};           ///< paged
    int64_t page_size = 16;                           ///< paged
    Which which;
    bool with_lse = true;
};
constexpr int64_t kPackedNumbers = 96 * 128;  ///< of k and v; of pages, six

/// Its queries and keys, where the contract says that they are.
Batch read_batch(const PackedAgain& c, const Arrays& arrays, bool paged) {
    const PackedShape& shape = c.shape;
    const int64_t D = shape.head_dim;
    Batch batch;
    batch.shape = shape;
    batch.query_starts = c.query_starts;
    const auto copy = [&](std::vector<float>& to,
                          const std::vector<float>& from,
                          int64_t heads,
                          int64_t rows,
                          auto place) {
        for (int64_t head = 0; head < heads; ++head)
            for (int64_t row = 0; row < rows; ++row) {
                const auto begin = from.begin() + place(head, row);
                to.insert(to.end(), begin, begin + D);
            }
    };
    for (size_t s = 0; s < 2; ++s) {
        const int64_t queries = c.query_starts[s + 1] - c.query_starts[s];
        const int64_t keys =
            paged ? c.lengths[s] : c.key_starts[s + 1] - c.key_starts[s];
        batch.parts.push_back({1,
                               shape.query_heads,
                               shape.kv_heads,
                               queries,
                               keys,
                               D,
                               shape.causal,
                               shape.scale});
        AttentionInputs inputs;
        const auto q_place = [&](int64_t head, int64_t row) {
            const int64_t stride = std::max(shape.query_stride, shape.query_heads * D);
            return (c.query_starts[s] + row) * stride + head * D;
        };
        const auto kv_place = [&](int64_t head, int64_t row) {
            const int64_t stride = std::max(shape.kv_stride, shape.kv_heads * D);
            if (!paged) return (c.key_starts[s] + row) * stride + head * D;
            const auto entry = s * 3 + static_cast<size_t>(row / c.page_size);
            return ((c.table[entry] * shape.kv_heads + head) * c.page_size +
                    row % c.page_size) *
                   D;
        };
        copy(
            inputs.q, arrays.numbers[c.which.q].q, shape.query_heads, queries, q_place);
        copy(inputs.k, arrays.numbers[c.which.k].k, shape.kv_heads, keys, kv_place);
        copy(inputs.v, arrays.numbers[c.which.v].v, shape.kv_heads, keys, kv_place);
        batch.inputs.push_back(inputs);
    }
    return batch;
}

void grade_again(bool paged,
                 const char* what,
                 const std::function<void(PackedAgain&)>& change) {
    PackedAgain before;
    before.shape.scale = usual_scale(64);
    PackedAgain now = before;
    change(now);
    Grader grade(paged ? "hopper_attention_paged" : "hopper_attention_packed",
                 std::string("as before but for ") + what);
    Arrays arrays(grade, 29 * 128, kPackedNumbers);
    // What the host has written there: it may change from call to call.
    int32_t* tables[2][4];
    const auto written = [](const PackedAgain& c) {
        return std::array{c.query_starts, c.key_starts, c.table, c.lengths};
    };
    const int32_t *old_values[4], *new_values[4];
    for (size_t i = 0; i < 4; ++i) {
        const std::string name = "table " + std::to_string(i);
        const auto values = written(before)[i];
        old_values[i] = grade.input(name + " before", values);
        new_values[i] = grade.input(name + " now", written(now)[i]);
        for (size_t at = 0; at < 2; ++at)
            tables[at][i] = grade.in_out(name + (at == 0 ? "" : " elsewhere"),
                                         {static_cast<int64_t>(values.size())},
                                         values);
    }
    const wb::PagedWorkspace workspace(1);
    const auto call = [&](const PackedAgain& c,
                          const int32_t* const* values,
                          cudaStream_t stream) {
        const Which& w = c.which;
        int32_t* const* const t = tables[w.tables];
        for (size_t i = 0; i < 4; ++i)
            CUDA_CHECK(cudaMemcpyAsync(t[i],
                                       values[i],
                                       written(c)[i].size() * sizeof(int32_t),
                                       cudaMemcpyDeviceToDevice,
                                       stream));
        float* const lse = c.with_lse ? arrays.lse[w.lse] : nullptr;
        const T* const q = arrays.q[w.q];
        T* const o = arrays.o[w.o];
        if (!paged)
            return hopper_attention_packed(
                c.shape, q, arrays.k[w.k], arrays.v[w.v], t[0], t[1], o, lse, stream);
        const int64_t page = c.page_size * c.shape.kv_heads * c.shape.head_dim;
        const wb::PagedCache cache = {const_cast<T*>(arrays.k[w.k]),
                                      const_cast<T*>(arrays.v[w.v]),
                                      t[2],
                                      t[3],
                                      2,
                                      3,
                                      kPackedNumbers / page,
                                      c.shape.kv_heads,
                                      c.page_size,
                                      c.shape.head_dim};
        hopper_attention_paged(c.shape, cache, q, t[0], o, lse, workspace, stream);
    };
    grade.run([&](cudaStream_t stream) {
        call(before, old_values, stream);
        call(now, new_values, stream);
    });
    workspace.check(nullptr);
    const auto batch = read_batch(now, arrays, paged);
    expect_in(grade, now.which, expect_batch<T>(batch), now.with_lse);
}

void grade_packed_again(const char* what,
                        const std::function<void(PackedAgain&)>& change) {
    grade_again(false, what, change);
}
void grade_paged_again(const char* what,
                       const std::function<void(PackedAgain&)>& change) {
    grade_again(true, what, change);
}

}  // namespace

TEST_CASE("once more in the same arrays, but for one thing: dense", "[values]") {
    NEEDS_HOPPER();
    using Call = DenseAgain;
    grade_dense("the scale", [](Call& c) { c.shape.scale *= 4.0f; });
    grade_dense("the mask", [](Call& c) { c.shape.causal = true; });
    grade_dense("the number of keys", [](Call& c) { c.shape.keys = 31; });
    grade_dense("the groups", [](Call& c) { c.shape.kv_heads = 1; });
    grade_dense("which of them are sequences", [](Call& c) {
        c.shape.batch = 1;
        c.shape.query_heads = c.shape.kv_heads = 4;
    });
    grade_dense("which of them are heads", [](Call& c) {
        c.shape.query_heads = c.shape.kv_heads = 1;
        c.shape.queries = 40;
    });
    grade_dense("the head dimension", [](Call& c) {
        c.shape.query_heads = c.shape.kv_heads = 1;
        c.shape.head_dim = 128;
        c.with_lse = false;
    });
    grade_dense("where q is", [](Call& c) { c.which.q = 1; });
    grade_dense("where k is", [](Call& c) { c.which.k = 1; });
    grade_dense("where v is", [](Call& c) { c.which.v = 1; });
    grade_dense("where o is", [](Call& c) { c.which.o = 1; });
    grade_dense("where lse is", [](Call& c) { c.which.lse = 1; });
}

TEST_CASE("once more in the same arrays, but for one thing: packed and paged",
          "[values]") {
    NEEDS_HOPPER();
    using Call = PackedAgain;
    for (const auto& again : {grade_packed_again, grade_paged_again}) {
        again("the scale", [](Call& c) { c.shape.scale *= 4.0f; });
        again("the mask", [](Call& c) { c.shape.causal = true; });
        again("the queries' stride", [](Call& c) { c.shape.query_stride = 136; });
        again("the groups", [](Call& c) { c.shape.kv_heads = 1; });
        again("the head dimension", [](Call& c) {
            c.shape.query_heads = c.shape.kv_heads = 1;
            c.shape.head_dim = 128;
            c.with_lse = false;
        });
        again("the queries' starts", [](Call& c) { c.query_starts[1] = 11; });
        again("where tables are, and what they hold", [](Call& c) {
            c.which.tables = 1;
            c.query_starts[1] = 11;
            c.key_starts[1] = 7;
            c.table = {0, 1, 2, 3, 4, 5};
            c.lengths = {7, 31};
        });
        again("where q is", [](Call& c) { c.which.q = 1; });
        again("where k is", [](Call& c) { c.which.k = 1; });
        again("where v is", [](Call& c) { c.which.v = 1; });
        again("where o is", [](Call& c) { c.which.o = 1; });
        again("where lse is", [](Call& c) { c.which.lse = 1; });
    }
    const auto packed = grade_packed_again;
    packed("the keys' stride", [](Call& c) { c.shape.kv_stride = 136; });
    packed("the keys' starts", [](Call& c) { c.key_starts[1] = 7; });
    const auto paged = grade_paged_again;
    paged("what the table holds", [](Call& c) { c.table = {0, 1, 2, 3, 4, 5}; });
    paged("the lengths", [](Call& c) { c.lengths = {7, 31}; });
    paged("the size of pages", [](Call& c) {
        c.page_size = 32;
        c.table = {1, 0, 0, 2, 0, 0};
    });
}
