// Grades day06-llm-attention/12-attention-backward: what is refused, memory, and arrays
// of more than 2^31 elements.
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/other_device.h>
#include <wb/testing/refuses.h>

#include <limits>

using namespace backward_grading;
using wb::testing::misaligned;
using wb::testing::plain_attention;
using Bf16 = __nv_bfloat16;

namespace {

/// Right arguments: two heads of four queries and four keys.
template <class T>
struct Memory {
    static constexpr int64_t kArray = 2 * 4 * 64 + 64;  // and room behind it
    const std::vector<T> numbers = std::vector<T>(9 * kArray, T(1.0f));
    Grader grade{exercise<T>(), "wrong arguments"};
    AttentionBackward<T> call = {};

    explicit Memory(bool deterministic) {
        T* const d = grade.in_out<T>("d", {9 * kArray}, numbers);
        call.deterministic = deterministic;
        call.shape = plain_attention(1, 2, 4, 4, 64);
        call.q = d;
        call.k = d + kArray;
        call.v = d + 2 * kArray;
        call.o = d + 3 * kArray;
        call.d_o = d + 4 * kArray;
        call.dq = d + 5 * kArray;
        call.dk = d + 6 * kArray;
        call.dv = d + 7 * kArray;
        call.lse = reinterpret_cast<const float*>(d + 8 * kArray);
    }
    /// What is refused has not written, either.
    void expect_untouched() {
        CUDA_CHECK(cudaDeviceSynchronize());
        grade.expect(
            "d", std::vector<double>(numbers.size(), 1.0), [](int64_t) { return 0.0; });
    }
};

template <class T>
void refuse_all(bool deterministic) {
    // What is not written yet does not refuse, either.
    const auto small = plain_attention(1, 1, 1, 1, 64);
    grade_type<T>(small, whole_numbers(small, 1), ", whole numbers");
    Memory<T> memory(deterministic);
    const std::string name = exercise<T>();
    const wb::testing::Refuses<AttentionBackward<T>> refuse = {
        name.c_str(), contract<T>(), memory.call};
    if (!std::is_same_v<T, float>) refuse.older_gpu();
    refuse("shape.batch is -1", [](auto& c) { c.shape.batch = -1; });
    refuse("shape.query_heads is 3", [](auto& c) { c.shape.query_heads = 3; });
    refuse("shape.queries is -4", [](auto& c) { c.shape.queries = -4; });
    refuse("shape.keys is 2147483648",
           [](auto& c) { c.shape.keys = int64_t{1} << 31; });
    refuse("shape.head_dim is 32", [](auto& c) { c.shape.head_dim = 32; });
    refuse("shape.head_dim is 96", [](auto& c) { c.shape.head_dim = 96; });
    refuse("shape.scale is inf",
           [](auto& c) { c.shape.scale = std::numeric_limits<float>::infinity(); });
    refuse("q is a null pointer", [](auto& c) { c.q = nullptr; });
    refuse("k is a null pointer", [](auto& c) { c.k = nullptr; });
    refuse("v is a null pointer", [](auto& c) { c.v = nullptr; });
    refuse("o is a null pointer", [](auto& c) { c.o = nullptr; });
    refuse("lse is a null pointer", [](auto& c) { c.lse = nullptr; });
    refuse("d_o is a null pointer", [](auto& c) { c.d_o = nullptr; });
    refuse("dq is a null pointer", [](auto& c) { c.dq = nullptr; });
    refuse("dk is a null pointer", [](auto& c) { c.dk = nullptr; });
    refuse("dv is a null pointer", [](auto& c) { c.dv = nullptr; });
    const float host[8] = {};
    refuse("lse is a host pointer", [&](auto& c) { c.lse = host; });
    refuse("lse is not aligned", [](auto& c) { c.lse = misaligned(c.lse); });
    refuse("q is not aligned", [](auto& c) { c.q += 1; });
    refuse("k is not aligned", [](auto& c) { c.k += 1; });
    refuse("v is not aligned", [](auto& c) { c.v += 1; });
    refuse("o is not aligned", [](auto& c) { c.o += 1; });
    refuse("d_o is not aligned", [](auto& c) { c.d_o += 1; });
    refuse("dq is not aligned", [](auto& c) { c.dq += 1; });
    refuse("dk is not aligned", [](auto& c) { c.dk += 1; });
    refuse("dv is not aligned", [](auto& c) { c.dv += 1; });
    refuse("dq - q in bytes is 0", [](auto& c) { c.dq = const_cast<T*>(c.q); });
    refuse("dv - dk in bytes", [](auto& c) { c.dv = c.dk + 8 * 63; });
    refuse("dk - v in bytes", [](auto& c) { c.dk = const_cast<T*>(c.v) + 8 * 63; });
    refuse("dq - d_o in bytes", [](auto& c) { c.dq = const_cast<T*>(c.d_o) - 8; });
    refuse("dv - lse in bytes",
           [](auto& c) { c.lse = reinterpret_cast<const float*>(c.dv) + 3; });
    memory.expect_untouched();
}

/// Memory that goes back by itself.
struct Free {
    void operator()(void* memory) const { (void)cudaFree(memory); }
};

}  // namespace

TEST_CASE("fp32: wrong arguments are refused by name") {
    refuse_all<float>(false);
    refuse_all<float>(true);
}

TEST_CASE("bf16: wrong arguments are refused by name") {
    refuse_all<Bf16>(false);
    refuse_all<Bf16>(true);
}

TEST_CASE("neither queries nor keys: nothing is launched") {
    const auto none = [](auto zero) {
        using T = decltype(zero);
        const auto small = plain_attention(1, 1, 1, 1, 64);
        grade_type<T>(small, whole_numbers(small, 1), ", whole numbers");
        Grader grade(exercise<T>(), "no queries and no keys, or no batch");
        grade.expect_no_work([](cudaStream_t stream) {
            for (const auto& shape : {plain_attention(1, 1, 0, 0, 64),
                                      plain_attention(0, 2, 7, 7, 64),
                                      plain_attention(2, 0, 7, 7, 128)}) {
                AttentionBackward<T> call = {};
                call.shape = shape;
                contract<T>()(call, stream);
                call.deterministic = true;
                contract<T>()(call, stream);
            }
        });
    };
    none(float());
    none(Bf16());
}

TEST_CASE("no queries, or no keys: their arrays may be null") {
    const auto graded = [](auto zero) {
        using T = decltype(zero);
        for (const bool same_bits : {false, true}) {
            Grader grade(exercise<T>(), "arrays without elements are null");
            AttentionBackward<T> keys = {};
            keys.deterministic = same_bits;
            AttentionBackward<T> queries = keys;
            keys.shape = plain_attention(1, 1, 0, 2, 64);
            keys.k = grade.input("k", std::vector<T>(128, T(1.0f)));
            keys.v = grade.input("v", std::vector<T>(128, T(1.0f)));
            keys.dk = grade.output<T>("dk", {2, 64});
            keys.dv = grade.output<T>("dv", {2, 64});
            queries.shape = plain_attention(1, 1, 2, 0, 64);
            queries.q = grade.input("q", std::vector<T>(128, T(1.0f)));
            queries.o = grade.input("o", std::vector<T>(128, T(1.0f)));
            queries.lse = grade.input("lse", std::vector<float>(2, 1.0f));
            queries.d_o = grade.input("d_o", std::vector<T>(128, T(1.0f)));
            queries.dq = grade.output<T>("dq", {2, 64});
            grade.run([&](cudaStream_t stream) {
                contract<T>()(keys, stream);
                contract<T>()(queries, stream);
            });
            for (const char* array : {"dk", "dv", "dq"})
                grade.expect(
                    array, std::vector<double>(128, 0.0), [](int64_t) { return 0.0; });
        }
    };
    graded(float());
    graded(Bf16());
}

TEST_CASE("no memory for weights", "[serial]") {
    if (wb::testing::is_watched()) return;  // memory is counted without the checker
    // Weights of 64 queries and 2048 keys would take 256 KiB in 16 bits; dk and dv for
    // each query head of a group 1 MiB; a dq for each 128 keys 128 KiB. What is allowed
    // are D + 2 floats a query, and twice as much for what an allocator rounds up.
    const auto watched = [&](auto zero,
                             const AttentionShape& shape,
                             bool same_bits,
                             bool last_alone = false) {
        using T = decltype(zero);
        const Inputs in = whole_numbers(shape, 1);
        const auto allowed =
            static_cast<uint64_t>(8 * (shape.head_dim + 2) * shape.rows());
        auto versions = implementations_of<T>();
        if (last_alone) versions = wb::testing::last_of(versions);
        for (const auto& [name, idea, launch] : versions) {
            const std::string text =
                wb::describe(shape) + (same_bits ? ", deterministic" : "");
            Grader grade(name, text);
            const auto call = call_of<T>(grade, shape, in, same_bits);
            const auto run = [&, launch = launch](const AttentionBackward<T>& now) {
                grade.run([&](cudaStream_t stream) { launch(now, stream); });
            };
            auto one = call;
            one.shape.queries = one.shape.keys = 1;
            run(one);  // the first launch of a kernel loads its code
            const wb::testing::MemoryWatch watch;
            run(call);
            watch.expect_at_most(allowed, name + ", " + text);
        }
    };
    const auto alone = plain_attention(1, 1, 64, 2048, 64);
    const auto group = grouped(plain_attention(1, 1, 16, 1024, 64), 2);
    const auto causal = grouped(plain_attention(1, 1, 8, 640, 128, true), 2);
    watched(float(), alone, false);
    watched(Bf16(), alone, false);
    for (const bool same_bits : {false, true}) {
        watched(float(), group, same_bits);
        watched(Bf16(), group, same_bits);
        watched(float(), causal, same_bits, true);
        watched(Bf16(), causal, same_bits, true);
    }
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] { grade(plain_attention(1, 1, 5, 9, 64)); },
        [] { grade(grouped(plain_attention(1, 1, 33, 20, 128, true), 2), 2); },
        [] { grade(plain_attention(1, 1, 5, 9, 64), 3); });
    wb::testing::on_another_device([] { grade(plain_attention(1, 1, 5, 9, 64)); });
}

TEST_CASE("the arrays of an earlier call, which was of other sizes") {
    // Nothing belongs to an address: no size, no tensor map.
    const auto graded = [](auto zero, bool deterministic) {
        using T = decltype(zero);
        const auto shape = plain_attention(1, 2, 20, 33, 64);
        const Inputs in = whole_numbers(shape, 1);
        const Expected e = expect<T>(shape, in);
        for (const auto& [name, idea, launch] : implementations_of<T>()) {
            Grader grade(name, wb::describe(shape) + ", in the arrays of another call");
            const auto call = call_of<T>(grade, shape, in, deterministic);
            auto before = call;
            before.shape = plain_attention(1, 1, 7, 5, 64, true);
            before.shape.scale = -0.3f;
            auto wide = call;
            wide.shape = plain_attention(1, 1, 7, 5, 128);
            wide.deterministic = !deterministic;
            grade.run([&, launch = launch](cudaStream_t stream) {
                launch(before, stream);
                launch(wide, stream);
                launch(call, stream);
            });
            expect_all(grade, e);
        }
    };
    graded(float(), false);
    graded(Bf16(), false);
    graded(Bf16(), true);
}

TEST_CASE("more heads than 4096, on a GPU than a grid has blocks along y and z") {
    // Without queries, or without keys: a row of zeros for each head.
    if (wb::testing::is_watched()) return;
#ifdef SIMT_CPU
    constexpr int64_t kHeads = 4099;
#else
    constexpr int64_t kHeads = 65'539;
#endif
    const auto graded = [](auto zero) {
        using T = decltype(zero);
        for (const int64_t queries : {0, 1}) {
            auto shape = plain_attention(kHeads, 1, queries, 1 - queries, 64);
            const Inputs in = whole_numbers(shape, 1);
            const Expected e = expect<T>(shape, in);
            for (const auto& [name, idea, launch] :
                 wb::testing::last_of(implementations_of<T>()))
                grade_one<T>(name, launch, shape, in, e, "", false);
        }
    };
    graded(float());
    graded(Bf16());
}

TEST_CASE("what is read may be one array") {
    const auto graded = [](auto zero) {
        using T = decltype(zero);
        const auto shape = plain_attention(1, 2, 20, 20, 64);
        Inputs in = inputs_of<T>(shape, wb::testing::random_attention(shape, 1), 1);
        in.k = in.v = in.o = in.d_o = in.q;
        const Expected e = expect<T>(shape, in);
        for (const auto& [name, idea, launch] : implementations_of<T>()) {
            Grader grade(name, wb::describe(shape) + ", q, k, v, o and d_o are one");
            auto call = call_of<T>(grade, shape, in, false);
            call.k = call.v = call.o = call.d_o = call.q;
            grade.run([&, launch = launch](cudaStream_t s) { launch(call, s); });
            expect_all(grade, e);
        }
    };
    graded(float());
    graded(Bf16());
}

TEST_CASE("keys of more than 2^31 elements", "[large]") {
    const auto small = plain_attention(1, 1, 1, 1, 64);
    grade_type<Bf16>(small, whole_numbers(small, 1), ", whole numbers");
#ifdef SIMT_CPU
    WB_SKIP("17 GB of memory are too much for the simulator");
#else
    // 2^21 + 3 heads of one query and 16 keys; k and v are the same array of zeros. The
    // last head alone is looked at: its d_o is 1, and its weights are 1 / 16.
    constexpr int64_t kHeads = (int64_t{1} << 21) + 3;
    const auto shape = plain_attention(1, kHeads, 1, 16, 64);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < size_t{20} << 30) WB_SKIP("needs 20 GB of free GPU memory");
    const auto zeros = [](int64_t bytes) {
        void* memory = nullptr;
        CUDA_CHECK(cudaMalloc(&memory, static_cast<size_t>(bytes)));
        CUDA_CHECK(cudaMemset(memory, 0, static_cast<size_t>(bytes)));
        return std::unique_ptr<void, Free>(memory);
    };
    const auto kv = zeros(shape.kv_elements() * 2);
    const auto q = zeros(shape.query_elements() * 2);
    const auto d_o = zeros(shape.query_elements() * 2);
    const auto lse = zeros(shape.rows() * 4);
    const auto dq = zeros(shape.query_elements() * 2);
    const auto dk = zeros(shape.kv_elements() * 2);
    const auto dv = zeros(shape.kv_elements() * 2);
    const std::vector<Bf16> ones(64, Bf16(1.0f));
    CUDA_CHECK(cudaMemcpy(static_cast<Bf16*>(d_o.get()) + shape.query_elements() - 64,
                          ones.data(),
                          128,
                          cudaMemcpyHostToDevice));
    const float log16 = std::log(16.0f);
    CUDA_CHECK(cudaMemcpy(static_cast<float*>(lse.get()) + shape.rows() - 1,
                          &log16,
                          4,
                          cudaMemcpyHostToDevice));
    const auto of = [](const std::unique_ptr<void, Free>& memory) {
        return static_cast<Bf16*>(memory.get());
    };
    for (const auto& [name, idea, launch] : implementations_of<Bf16>()) {
        Grader grade(name, wb::describe(shape) + ", the last head");
        auto* const seen = grade.output<Bf16>("dv", {16, 64});
        const AttentionBackward<Bf16> call = {shape,
                                              of(q),
                                              of(kv),
                                              of(kv),
                                              of(q),
                                              static_cast<float*>(lse.get()),
                                              of(d_o),
                                              of(dq),
                                              of(dk),
                                              of(dv)};
        grade.run([&, launch = launch](cudaStream_t stream) {
            launch(call, stream);
            CUDA_CHECK(cudaMemcpyAsync(seen,
                                       of(dv) + shape.kv_elements() - 16 * 64,
                                       16 * 64 * 2,
                                       cudaMemcpyDeviceToDevice,
                                       stream));
        });
        grade.expect(
            "dv", std::vector<double>(16 * 64, 0.0625), [](int64_t) { return 0.0; });
    }
#endif
}
