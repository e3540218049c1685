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
    Grader grade{exercise<T>(), "wrong arguments"};
    AttentionBackward<T> call = {};

    Memory() {
        constexpr int64_t kArray = 2 * 4 * 64 + 64;  // and room behind it
        T* const d = grade.output<T>("d", {9 * kArray});
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
};

template <class T>
void refuse_all() {
    // What is not written yet does not refuse, either.
    const auto small = plain_attention(1, 1, 1, 1, 64);
    grade_type<T>(small, whole_numbers(small, 1), ", whole numbers");
    const Memory<T> memory;
    const std::string name = exercise<T>();
    const wb::testing::Refuses<AttentionBackward<T>> refuse = {
        name.c_str(), contract<T>(), memory.call};
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
}

/// Memory that goes back by itself.
struct Free {
    void operator()(void* memory) const { (void)cudaFree(memory); }
};

}  // namespace

TEST_CASE("fp32: wrong arguments are refused by name") {
    refuse_all<float>();
}

TEST_CASE("bf16: wrong arguments are refused by name") {
    refuse_all<Bf16>();
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
            }
        });
    };
    none(float());
    none(Bf16());
}

TEST_CASE("no memory for weights", "[serial]") {
    if (wb::testing::is_watched()) return;  // memory is counted without the checker
    // 64 queries and 2048 keys: their weights would take 256 KiB in 16 bits. What is
    // allowed are D + 2 floats a query, 33 KiB, and what an allocator rounds up to.
    const auto shape = plain_attention(1, 1, 64, 2048, 64);
    const Inputs in = whole_numbers(shape, 1);
    const auto watched = [&](auto zero) {
        using T = decltype(zero);
        for (const auto& [name, idea, launch] : implementations_of<T>()) {
            Grader grade(name, wb::describe(shape));
            const auto call = call_of<T>(grade, shape, in, false);
            const auto run = [&, launch = launch](const AttentionBackward<T>& now) {
                grade.run([&](cudaStream_t stream) { launch(now, stream); });
            };
            auto one = call;
            one.shape.queries = one.shape.keys = 1;
            run(one);  // the first launch of a kernel loads its code
            const wb::testing::MemoryWatch watch;
            run(call);
            watch.expect_at_most(66 << 10, name + ", " + wb::describe(shape));
        }
    };
    watched(float());
    watched(Bf16());
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] { grade(plain_attention(1, 1, 5, 9, 64)); },
        [] { grade(grouped(plain_attention(1, 1, 33, 20, 128, true), 2), 2); },
        [] { grade(plain_attention(1, 1, 5, 9, 64), 3); });
    wb::testing::on_another_device([] { grade(plain_attention(1, 1, 5, 9, 64)); });
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
            const auto compare = [&](const char* array, const Wanted& w) {
                grade.expect(
                    array, w.values, [&](int64_t i) { return w.bounds[at(i)]; });
            };
            compare("dv", e.dv);
            compare("dk", e.dk);
            compare("dq", e.dq);
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
