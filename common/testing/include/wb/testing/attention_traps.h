/// wb/testing/attention_traps.h: attention problems for kernels that leave out what is
/// multiplied with 0, share a maximum among rows, take a low score for a hidden key,
/// keep something for the next call with these arrays, or do not look at a pointer.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_scores.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/simulator.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace wb::testing {

/// Zeros for spoil_beside_zeros(): the queries of the first K/V head; of the second one
/// column kZeroOfKeys of its keys, and kZeroOfValues of its values. One batch.
struct BesideZeros {
    static constexpr std::size_t kColumnOfKey = 5;
    static constexpr std::size_t kZeroOfKeys = 7;
    static constexpr std::size_t kZeroOfValues = 3;
    static constexpr const char* kText = "0 times NaN";

    static AttentionInputs zeros(const AttentionShape& shape) {
        AttentionInputs inputs = random_attention(shape, 1);
        const auto dim = static_cast<std::size_t>(shape.head_dim);
        const auto head = static_cast<std::size_t>(shape.keys) * dim;
        for (std::size_t i = 0; i < of_group(shape) * dim; ++i)
            inputs.q[i] = 0.0f;
        for (std::size_t i = head; i < 2 * head; i += dim) {
            inputs.k[i + kZeroOfKeys] = 0.0f;
            inputs.v[i + kZeroOfValues] = 0.0f;
        }
        return inputs;
    }

    /// A NaN in key 1 of the first K/V head makes NaN of all rows of its group, and one
    /// in the first query of the second that row. 0 * NaN is NaN.
    static void spoil(const AttentionShape& shape,
                      AttentionInputs& inputs,
                      AttentionExpected& expected) {
        constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
        const auto dim = static_cast<std::size_t>(shape.head_dim);
        inputs.k[dim + kColumnOfKey] = kNaN;
        inputs.q[of_group(shape) * dim + kZeroOfKeys] = kNaN;
        for (std::size_t row = 0; row <= of_group(shape); ++row) {
            for (std::size_t i = row * dim; i < (row + 1) * dim; ++i)
                expected.o[i] = kNaN, expected.o_bound[i] = 0.0;
            expected.lse[row] = kNaN, expected.lse_bound[row] = 0.0;
        }
    }

 private:
    /// Rows of the query heads that share a K/V head.
    static std::size_t of_group(const AttentionShape& shape) {
        return static_cast<std::size_t>(shape.query_heads / shape.kv_heads *
                                        shape.queries);
    }
};

/// Makes -2^127 * ln(2) of -2^20: lower than what many a kernel hides a key with, or
/// begins a maximum with. See kFarScale.
inline constexpr float kFarthestScale = 0x1p7f * kFarScale;

/// A score whose exponential is a float, and keys enough that their sum is not.
inline constexpr float kOfLargeExp = 84.0f;
inline constexpr std::int64_t kOfLargeSum = 203;

/// Grades a scale of 0 and a large one of the other sign, with a mask; and equal scores
/// whose exponential is a float, while the sum of these is not.
inline void grade_plain_traps(const std::string& exercise,
                              AttentionFunction* contract,
                              const AttentionShape& shape) {
    auto masked = shape;
    masked.causal = true;
    for (const float scale : {0.0f, -2.5f}) {
        masked.scale = scale;
        const auto inputs = random_attention(masked, 1);
        grade_attention(exercise,
                        contract,
                        masked,
                        inputs,
                        expect_attention(masked, inputs),
                        ", scale " + std::to_string(scale));
    }
    auto many = shape;
    many.queries = 2;
    many.keys = kOfLargeSum;
    many.scale = 1.0f;
    const auto inputs = far_scores(many, kOfLargeExp);
    grade_attention(exercise,
                    contract,
                    many,
                    inputs,
                    expect_far_scores(many, inputs),
                    ", every score 84: exp() of it is a float, the sum is not");
}

/// Grades all of them, of a chapter in float. The heads are at least 2.
inline void grade_traps(const std::string& exercise,
                        AttentionFunction* contract,
                        int64_t query_heads,
                        int64_t kv_heads) {
    for (const int64_t head_dim : {32, 64, 128, 256}) {
        const auto graded = [&](const AttentionShape& shape,
                                const AttentionInputs& inputs,
                                const AttentionExpected& expected,
                                const std::string& text) {
            grade_attention(exercise, contract, shape, inputs, expected, ", " + text);
        };
        auto shape = plain_attention(1, query_heads, 5, 7, head_dim);
        shape.kv_heads = kv_heads;
        auto inputs = BesideZeros::zeros(shape);
        auto expected = expect_attention(shape, inputs);
        BesideZeros::spoil(shape, inputs, expected);
        graded(shape, inputs, expected, BesideZeros::kText);

        inputs = uneven_rows(shape, 1);
        graded(shape,
               inputs,
               expect_attention(shape, inputs),
               "rows of scores far from each other");

        if (!is_watched()) {  // its accesses are those of other cases
            auto larger = plain_attention(1, query_heads, 33, 40, head_dim);
            larger.kv_heads = kv_heads;
            inputs = steps_of_rows(larger, 1);
            graded(larger,
                   inputs,
                   expect_attention(larger, inputs),
                   "each row's scores rise at another key");
            grade_plain_traps(exercise, contract, shape);
        }

        shape.scale = kFarthestScale;
        for (const float product : {-0x1p20f, 0x1p20f}) {
            inputs = far_scores(shape, product);
            graded(shape,
                   inputs,
                   expect_far_scores(shape, inputs),
                   "every score 10^38 or -10^38");
        }
    }
}

/// Grades one array as q, k and v: what a kernel does to its keys is not to be done to
/// values.
inline void grade_one_array(const std::string& exercise,
                            AttentionFunction* contract,
                            int64_t heads) {
    auto shape = plain_attention(1, heads, 7, 7, 64);
    shape.scale = -0.3f;
    AttentionInputs inputs = random_attention(shape, 1);
    inputs.q = inputs.k = inputs.v;
    const auto expected = expect_attention(shape, inputs);
    for (const auto& [name, idea, attention] : implementations(exercise, contract)) {
        Grader grade(name, describe(shape) + ", q, k and v are one array");
        const float* all = grade.input("q, k and v", inputs.v);
        float* o = grade.output<float>("o", {heads, 7, 64});
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(shape, all, all, all, o, nullptr, stream);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<std::size_t>(i)];
        });
    }
}

/// Grades a call whose arrays an earlier one had, which was of other sizes and of
/// another scale and mask: nothing belongs to an address. And grade_one_array().
inline void grade_same_arrays(const std::string& exercise,
                              AttentionFunction* contract,
                              int64_t query_heads,
                              int64_t kv_heads) {
    auto shape = plain_attention(1, query_heads, 7, 11, 64);
    shape.kv_heads = kv_heads;
    grade_one_array(exercise, contract, query_heads);
    auto before = shape;
    before.queries = 3;
    before.keys = 5;
    before.causal = true;
    before.scale = -1.0f;
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_attention(shape, inputs);
    for (const auto& [name, idea, attention] : implementations(exercise, contract)) {
        Grader grade(name, describe(shape) + ", in the arrays of another call");
        const float* q = grade.input("q", inputs.q);
        const float* k = grade.input("k", inputs.k);
        const float* v = grade.input("v", inputs.v);
        float* o = grade.output<float>("o", {query_heads, 7, 64});
        float* lse = grade.output<float>("lse", {query_heads, 7});
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(before, q, k, v, o, lse, stream);
            attention(shape, q, k, v, o, lse, stream);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<std::size_t>(i)];
        });
        grade.expect("lse", expected.lse, [&](int64_t i) {
            return expected.lse_bound[static_cast<std::size_t>(i)];
        });
    }
}

/// Passes if two calls have nothing in common where a kernel for small problems will
/// not do: many keys, which may be shared out to several blocks, and many heads; and of
/// each head dimension, seen or masked. The last version, or the learner's function.
/// @param group  query heads of each K/V head where there are not many heads
inline void expect_large_independent(const std::string& exercise,
                                     AttentionFunction* contract,
                                     int64_t group) {
    if (is_watched()) return;  // there, accesses are no others
    auto many_keys = plain_attention(1, group, 7, 1301, 32);
    many_keys.kv_heads = 1;
    auto shapes = shapes_at_once({32, 64, 128, 256}, group);
    shapes.push_back(many_keys);
    shapes.push_back(plain_attention(1, 130, 1, 2, 32));
    for (const AttentionShape& shape : shapes) {
        const auto graded = [&](std::uint64_t seed) {
            const auto inputs = random_attention(shape, seed);
            grade_attention(last_of(implementations(exercise, contract)),
                            shape,
                            inputs,
                            expect_attention(shape, inputs),
                            ", seed " + std::to_string(seed));
        };
        expect_independent([&] { graded(1); }, [&] { graded(3); });
    }
}

/// Grades the last version, or the learner's function, on rows of scores far from each
/// other, of these shapes.
inline void grade_uneven_rows(const std::string& exercise,
                              AttentionFunction* contract,
                              const std::vector<AttentionShape>& shapes) {
    for (const AttentionShape& shape : shapes) {
        const auto inputs = uneven_rows(shape, 1);
        grade_attention(last_of(implementations(exercise, contract)),
                        shape,
                        inputs,
                        expect_attention(shape, inputs),
                        ", rows of scores far from each other");
    }
}

/// Grades more batches, K/V heads and query heads of a group than a byte counts, and
/// more queries than 12 bits, the last version alone: with a mask and another scale
/// than the usual one, and without log-sum-exp for the batches.
/// @param groups  whether query heads may share keys
inline void grade_many_masked(const std::string& exercise,
                              AttentionFunction* contract,
                              bool groups) {
    constexpr int64_t kMany = 259;
    std::vector<AttentionShape> shapes = {plain_attention(kMany, 1, 3, 5, 32, true),
                                          plain_attention(1, kMany, 3, 5, 32, true),
                                          plain_attention(1, 1, 4099, 5, 64, true)};
    if (groups) {
        shapes.back().query_heads = 2;
        shapes.push_back(shapes[1]);
        shapes.back().kv_heads = 1;
    }
    for (AttentionShape& shape : shapes) {
        shape.scale = -0.3f;
        const bool with_lse = shape.batch == 1;
        const auto inputs = random_attention(shape, 1);
        grade_attention(last_of(implementations(exercise, contract)),
                        shape,
                        inputs,
                        expect_attention(shape, inputs),
                        with_lse ? ", scale -0.3" : ", scale -0.3, lse = nullptr",
                        with_lse);
    }
}

/// Each pointer of a call is wrong in each way that a contract refuses; those that are
/// looked at without keys, there, too. Then nothing has been written, either.
/// @param contract  a function of shape, q, k, v, o, lse, stream; the arrays are T
/// @param shape     of which q, k, v and o are 256 numbers at most
/// @param vectors   they must be 16-byte aligned
template <class T = float, class Attention>
void expect_pointers_refused(const std::string& exercise,
                             Attention contract,
                             const AttentionShape& shape,
                             bool vectors) {
    constexpr const char* kNames[] = {"q", "k", "v", "o", "lse"};
    Grader memory(exercise, "wrong pointers");
    std::vector<T> numbers(256 + 16);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<T>(static_cast<float>(i % 7));
    const auto count = static_cast<int64_t>(numbers.size());
    T* const d = memory.in_out<T>("d", {count}, numbers);
    T host[256] = {};
    T* pinned = nullptr;  // the host's, although a kernel could use it
    CUDA_CHECK(cudaMallocHost(&pinned, sizeof host));
    auto without_keys = shape;
    without_keys.keys = 0;
    for (std::size_t wrong = 0; wrong < std::size(kNames); ++wrong) {
        const std::string name = kNames[wrong];
        const bool is_lse = name == "lse";
        const auto refused =
            [&](const AttentionShape& of, T* pointer, const std::string& what) {
                T* p[] = {d, d, d, d, nullptr};
                p[wrong] = pointer;
                const std::string part = name + " is " + what;
                expect_refused(exercise, part, part, [&] {
                    contract(of,
                             p[0],
                             p[1],
                             p[2],
                             p[3],
                             reinterpret_cast<float*>(p[4]),
                             nullptr);
                });
            };
        refused(shape, host, "a host pointer");
        refused(shape, pinned, "a host pointer");
        if (name == "o" || is_lse) refused(without_keys, host, "a host pointer");
        if (!is_lse) refused(shape, nullptr, "a null pointer");
        if (is_lse)  // of floats
            refused(shape,
                    reinterpret_cast<T*>(reinterpret_cast<char*>(d) + 2),
                    "not aligned");
        if (is_lse || !vectors) continue;
        refused(shape, d + 1, "not aligned");
        refused(shape, d + 8 / sizeof(T), "not aligned");
    }
    CUDA_CHECK(cudaFreeHost(pinned));
    CUDA_CHECK(cudaDeviceSynchronize());
    memory.expect("d", as_doubles(numbers), [](int64_t) { return 0.0; });
}

/// Grades a problem of equal scores, and what a call takes besides its arguments.
/// @param bytes  at most
inline void expect_memory_at_most(const std::string& exercise,
                                  AttentionFunction* contract,
                                  const AttentionShape& shape,
                                  uint64_t bytes) {
    const auto inputs = equal_weights(shape, 1);
    const auto expected = expect_attention(shape, inputs);
    for (const auto& [name, idea, attention] : implementations(exercise, contract)) {
        Grader grade(name, describe(shape) + ", q = 0");
        const float* q = grade.input("q", inputs.q);
        const float* k = grade.input("k", inputs.k);
        const float* v = grade.input("v", inputs.v);
        float* o = grade.output<float>(
            "o", {shape.batch, shape.query_heads, shape.queries, shape.head_dim});
        const auto call = [&, attention = attention](cudaStream_t stream) {
            attention(shape, q, k, v, o, nullptr, stream);
        };
        grade.run(call);  // the first launch of a kernel loads its code: memory, too
        const MemoryWatch watch;
        grade.run(call);
        watch.expect_at_most(bytes, name + ", " + describe(shape));
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<std::size_t>(i)];
        });
    }
}

}  // namespace wb::testing
