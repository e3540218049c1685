// Grades day06-llm-attention/10-hstu-attention: what is refused, and calls without
// work.
#include "grading.h"

#include <wb/testing/fail.h>
#include <wb/testing/refuses.h>

#include <limits>

using namespace hstu_grading;
using wb::testing::misaligned;

namespace {

/// Right arguments: two sequences of three and two rows, two heads, D 32, and room for
/// every kind of mask and of bias.
template <class T>
struct Memory {
    Grader grade;
    HstuCall<T> call = {};
    HstuGradients<T> out = {};
    std::vector<int32_t> cu_seqlens = {0, 3, 5};
    std::vector<int32_t> contexts = {1, 0};
    std::vector<int32_t> targets = {2, 1};
    std::vector<int32_t> offsets = {0, 1, 2, 2, 4, 4};
    std::vector<int32_t> intervals = {0, 3, 1, 2, 0, 1, 1, 2};

    explicit Memory(const std::string& function) : grade(function, "wrong arguments") {
        T* const rows = grade.output<T>("rows", {8 * 512});
        call.q = rows;
        call.k = rows + 512;
        call.v = rows + 1024;
        call.o = rows + 1536;
        out.d_o = rows + 2048;
        out.dq = rows + 2560;
        out.dk = rows + 3072;
        out.dv = rows + 3584;
        call.batch = 2;
        call.total = 5;
        call.heads = 2;
        call.head_dim = 32;
        call.alpha = 1.0f;
        call.scaling_length = 3;
        const auto twice = [&](const char* name, const std::vector<int32_t>& numbers) {
            return Twice<int32_t>{grade.input(name, numbers), numbers.data()};
        };
        call.cu_seqlens = twice("cu_seqlens", cu_seqlens);
        call.mask.contexts = twice("contexts", contexts);
        call.mask.targets = twice("targets", targets);
        call.mask.offsets = twice("offsets", offsets);
        call.mask.intervals = twice("intervals", intervals);
        float* const tables = grade.output<float>("tables", {64});
        call.bias.positions = tables;
        call.bias.max_distance = 2;
        call.bias.times = tables + 16;
        call.bias.buckets = 4;
        call.bias.timestamps = grade.input("timestamps", std::vector<int64_t>(5));
        out.d_positions = tables + 32;
        out.d_times = tables + 48;
    }
    /// What is refused has not written, either: outputs are poison, which is NaN.
    void expect_untouched() const {
        CUDA_CHECK(cudaDeviceSynchronize());
        for (const char* array : {"rows", "tables"})
            for (const double x : grade.read(array))
                if (!std::isnan(x))
                    wb::testing::fail(wb::testing::Kind::contract,
                                      std::string("wrong arguments: ") + array,
                                      "were written before the call was refused");
    }
};

/// A call, with its mask made one of another kind, and another array of numbers for the
/// host.
template <class T>
struct Refusals {
    const wb::testing::Refuses<HstuCall<T>>& refuse;

    void operator()(const char* part, auto change) const { refuse(part, change); }
    /// @param numbers  belongs to the member; on the host alone, for nothing is
    ///                 launched
    template <class Change>
    void host(const char* part,
              HstuMask kind,
              Twice<int32_t> HstuMasks::*member,
              const std::vector<int32_t>& numbers,
              Change change) const {
        refuse(part, [&](HstuCall<T>& c) {
            c.mask.kind = kind;
            (c.mask.*member).host = numbers.data();
            change(c);
        });
    }
    void host(const char* part,
              HstuMask kind,
              Twice<int32_t> HstuMasks::*member,
              const std::vector<int32_t>& numbers) const {
        host(part, kind, member, numbers, [](HstuCall<T>&) {});
    }
    void starts(const char* part, const std::vector<int32_t>& numbers) const {
        refuse(part, [&](HstuCall<T>& c) { c.cu_seqlens.host = numbers.data(); });
    }
};

template <class T>
void refuse_all(const Refusals<T>& refuse) {
    refuse("batch is -1", [](auto& c) { c.batch = -1; });
    refuse("batch is 1073741824", [](auto& c) { c.batch = 1 << 30; });
    refuse("total is -1", [](auto& c) { c.total = -1; });
    refuse("total is 1073741825", [](auto& c) { c.total = (1 << 30) + 1; });
    refuse("heads is 0", [](auto& c) { c.heads = 0; });
    refuse("heads is 65536", [](auto& c) { c.heads = 65536; });
    refuse("head_dim is 0", [](auto& c) { c.head_dim = 0; });
    refuse("head_dim is 96", [](auto& c) { c.head_dim = 96; });
    refuse("head_dim is 512", [](auto& c) { c.head_dim = 512; });
    refuse("alpha is", [](auto& c) { c.alpha = NAN; });
    refuse("alpha is", [](auto& c) { c.alpha = INFINITY; });
    refuse("scaling_length is 0", [](auto& c) { c.scaling_length = 0; });
    refuse("cu_seqlens.device is a null",
           [](auto& c) { c.cu_seqlens.device = nullptr; });
    refuse("cu_seqlens.host is 0", [](auto& c) { c.cu_seqlens.host = nullptr; });
    refuse("cu_seqlens.device is a host",
           [](auto& c) { c.cu_seqlens.device = c.cu_seqlens.host; });
    refuse.starts("cu_seqlens[0] is 1", {1, 3, 5});
    refuse.starts("cu_seqlens[0] is -1", {-1, 3, 5});
    refuse.starts("cu_seqlens[1] is -1", {0, -1, 5});
    refuse.starts("cu_seqlens[1] is 6", {0, 6, 5});
    refuse.starts("cu_seqlens[2] is 2", {0, 3, 2});
    refuse.starts("cu_seqlens[2] is 4", {0, 3, 4});
    refuse.starts("cu_seqlens[2] is 6", {0, 3, 6});
    refuse("cu_seqlens[1] is 3", [](auto& c) {  // where it should end already
        c.batch = 1;
    });

    refuse("mask.kind is 6", [](auto& c) { c.mask.kind = static_cast<HstuMask>(6); });
    refuse("mask.kind is -1", [](auto& c) { c.mask.kind = static_cast<HstuMask>(-1); });
    const auto window = [](int64_t left, int64_t right) {
        return [=](auto& c) {
            c.mask.kind = HstuMask::local;
            c.mask.left = left;
            c.mask.right = right;
        };
    };
    refuse("mask.left is -1", window(-1, 0));
    refuse("mask.right is -2", window(0, -2));
    const auto contexts = &HstuMasks::contexts;
    const auto targets = &HstuMasks::targets;
    refuse.host("mask.contexts[1] is 3", HstuMask::context, contexts, {3, 3});
    refuse.host("mask.contexts[0] is -1", HstuMask::context, contexts, {-1, 0});
    refuse.host("mask.contexts[0] is 4", HstuMask::target, contexts, {4, 0});
    refuse.host("mask.targets[0] is 3", HstuMask::target, targets, {3, 0});
    refuse.host("mask.targets[1] is -1", HstuMask::target, targets, {0, -1});
    refuse.host("mask.targets[1] is 3", HstuMask::target, targets, {2, 3});
    refuse("mask.contexts.host is 0", [](auto& c) {
        c.mask.kind = HstuMask::context;
        c.mask.contexts.host = nullptr;
    });
    refuse("mask.contexts.device is a null", [](auto& c) {
        c.mask.kind = HstuMask::target;
        c.mask.contexts.device = nullptr;
    });
    refuse("mask.contexts.host is 0", [](auto& c) {
        c.mask.kind = HstuMask::target;
        c.mask.contexts.host = nullptr;
    });
    refuse("mask.targets.device is a null", [](auto& c) {
        c.mask.kind = HstuMask::target;
        c.mask.targets.device = nullptr;
    });

    const HstuMask list = HstuMask::arbitrary;
    const auto offsets = &HstuMasks::offsets;
    const auto intervals = &HstuMasks::intervals;
    refuse.host("mask.offsets[0] is 1", list, offsets, {1, 1, 2, 2, 4, 4});
    refuse.host("mask.offsets[2] is 0", list, offsets, {0, 1, 0, 2, 4, 4});
    refuse.host(
        "mask.offsets[5] is 1073741824", list, offsets, {0, 1, 2, 2, 4, 1 << 30});
    refuse.host("mask.intervals[0] is -1", list, intervals, {-1, 3, 1, 2, 0, 1, 1, 2});
    refuse.host("mask.intervals[0] is 3", list, intervals, {3, 4, 1, 2, 0, 1, 1, 2});
    refuse.host("mask.intervals[1] is 4", list, intervals, {0, 4, 1, 2, 0, 1, 1, 2});
    refuse.host("mask.intervals[3] is 1", list, intervals, {0, 3, 1, 1, 0, 1, 1, 2});
    // Row 3 is the first of a sequence of two: intervals begin anew, and must not
    // overlap.
    refuse.host("mask.intervals[6] is 0", list, intervals, {0, 3, 1, 2, 0, 1, 0, 2});
    refuse.host("mask.intervals[7] is 3", list, intervals, {0, 3, 1, 2, 0, 1, 1, 3});
    refuse("mask.intervals.device is a null", [](auto& c) {
        c.mask.kind = HstuMask::arbitrary;
        c.mask.intervals.device = nullptr;
    });
    refuse("mask.intervals.host is 0", [](auto& c) {
        c.mask.kind = HstuMask::arbitrary;
        c.mask.intervals.host = nullptr;
    });
    refuse("mask.intervals.device is not aligned", [](auto& c) {
        c.mask.kind = HstuMask::arbitrary;
        c.mask.intervals.device += 1;
    });
    refuse("mask.offsets.device is a null", [](auto& c) {
        c.mask.kind = HstuMask::arbitrary;
        c.mask.offsets.device = nullptr;
    });

    refuse("bias.max_distance is -1", [](auto& c) { c.bias.max_distance = -1; });
    refuse("bias.max_distance is 1073741825",
           [](auto& c) { c.bias.max_distance = (1 << 30) + 1; });
    refuse("bias.buckets is 0", [](auto& c) { c.bias.buckets = 0; });
    refuse("bias.buckets is 66", [](auto& c) { c.bias.buckets = 66; });
    refuse("bias.timestamps is a null", [](auto& c) { c.bias.timestamps = nullptr; });
    const float host[64] = {};
    refuse("bias.positions is a host", [&](auto& c) { c.bias.positions = host; });
    refuse("bias.times is a host", [&](auto& c) { c.bias.times = host; });

    refuse("q is a null", [](auto& c) { c.q = nullptr; });
    refuse("k is a null", [](auto& c) { c.k = nullptr; });
    refuse("v is a null", [](auto& c) { c.v = nullptr; });
    refuse("q is not aligned", [](auto& c) { c.q += 1; });
    refuse("k is not aligned", [](auto& c) { c.k += 2; });
    refuse("v is not aligned", [](auto& c) { c.v = misaligned(c.v); });
}

template <class T>
struct Function {
    static inline Memory<T>* memory = nullptr;
    static inline Forward<T>* forward = nullptr;
    static inline Backward<T>* backward = nullptr;

    static void run_forward(const HstuCall<T>& call, cudaStream_t s) {
        forward(call, s);
    }
    static void run_backward(const HstuCall<T>& call, cudaStream_t s) {
        backward(call, memory->out, s);
    }
    static void run_gradients(const HstuGradients<T>& out, cudaStream_t s) {
        backward(memory->call, out, s);
    }
};

}  // namespace

TEST_CASE("wrong arguments of the forward pass are refused by name") {
    with_type(
        GENERATE(fp32, fp16, bf16),
        []<class T>(T, const char* suffix, auto* forward, auto*) {
            const std::string name = std::string("hstu_attention") + suffix;
            Memory<T> memory(name);
            Function<T>::forward = forward;
            const wb::testing::Refuses<HstuCall<T>> refuse = {
                name.c_str(), Function<T>::run_forward, memory.call};
            refuse_all<T>({refuse});
            refuse.older_gpu();
            refuse("o is a null", [](auto& c) { c.o = nullptr; });
            refuse("o is not aligned", [](auto& c) { c.o += 1; });
            refuse("q - o in bytes", [](auto& c) { c.o = const_cast<T*>(c.q) + 304; });
            refuse("k - o in bytes", [](auto& c) { c.o = const_cast<T*>(c.k) + 304; });
            refuse("v - o in bytes", [](auto& c) { c.o = const_cast<T*>(c.v); });
            const auto over = [](const void* array) {
                return reinterpret_cast<T*>(const_cast<void*>(array));
            };
            refuse("cu_seqlens.device - o in bytes",
                   [&](auto& c) { c.o = over(c.cu_seqlens.device); });
            refuse("mask.contexts.device - o in bytes", [&](auto& c) {
                c.mask.kind = HstuMask::context;
                c.o = over(c.mask.contexts.device);
            });
            refuse("mask.contexts.device - o in bytes", [&](auto& c) {
                c.mask.kind = HstuMask::target;
                c.o = over(c.mask.contexts.device);
            });
            refuse("mask.targets.device - o in bytes", [&](auto& c) {
                c.mask.kind = HstuMask::target;
                c.o = over(c.mask.targets.device);
            });
            refuse("mask.offsets.device - o in bytes", [&](auto& c) {
                c.mask.kind = HstuMask::arbitrary;
                c.o = over(c.mask.offsets.device);
            });
            refuse("mask.intervals.device - o in bytes", [&](auto& c) {
                c.mask.kind = HstuMask::arbitrary;
                c.o = over(c.mask.intervals.device);
            });
            refuse("bias.positions - o in bytes",
                   [&](auto& c) { c.o = over(c.bias.positions); });
            refuse("bias.times - o in bytes",
                   [&](auto& c) { c.o = over(c.bias.times); });
            refuse("bias.timestamps - o in bytes",
                   [&](auto& c) { c.o = over(c.bias.timestamps); });
            memory.expect_untouched();
            // Numbers at a place where right ones have been.
            memory.grade.expect_queued(
                [&](cudaStream_t s) { forward(memory.call, s); });
            memory.cu_seqlens[1] = 6;
            refuse("cu_seqlens[1] is 6", [](auto&) {});
        });
}

TEST_CASE("wrong arguments of the backward pass are refused by name") {
    with_type(
        GENERATE(fp32, fp16, bf16),
        []<class T>(T, const char* suffix, auto*, auto* backward) {
            const std::string name = std::string("hstu_backward") + suffix;
            Memory<T> memory(name);
            Function<T>::backward = backward;
            Function<T>::memory = &memory;
            const wb::testing::Refuses<HstuCall<T>> refuse_call = {
                name.c_str(), Function<T>::run_backward, memory.call};
            refuse_all<T>({refuse_call});
            refuse_call.older_gpu();
            refuse_call("d_positions is", [](auto& c) { c.bias.positions = nullptr; });
            refuse_call("d_times is", [](auto& c) { c.bias.times = nullptr; });
            const wb::testing::Refuses<HstuGradients<T>> refuse = {
                name.c_str(), Function<T>::run_gradients, memory.out};
            refuse("d_o is a null", [](auto& g) { g.d_o = nullptr; });
            refuse("dq is a null", [](auto& g) { g.dq = nullptr; });
            refuse("dk is a null", [](auto& g) { g.dk = nullptr; });
            refuse("dv is a null", [](auto& g) { g.dv = nullptr; });
            refuse("d_positions is a null", [](auto& g) { g.d_positions = nullptr; });
            refuse("d_times is a null", [](auto& g) { g.d_times = nullptr; });
            refuse("d_o is not aligned", [](auto& g) { g.d_o += 1; });
            refuse("dq is not aligned", [](auto& g) { g.dq += 1; });
            refuse("dk is not aligned", [](auto& g) { g.dk += 1; });
            refuse("dv is not aligned", [](auto& g) { g.dv += 1; });
            const auto& call = memory.call;
            refuse("q - dq in bytes",
                   [&](auto& g) { g.dq = const_cast<T*>(call.q) + 304; });
            refuse("k - dk in bytes",
                   [&](auto& g) { g.dk = const_cast<T*>(call.k) + 304; });
            refuse("v - dv in bytes",
                   [&](auto& g) { g.dv = const_cast<T*>(call.v) + 304; });
            refuse("d_o - dq in bytes", [](auto& g) { g.dq = const_cast<T*>(g.d_o); });
            refuse("dk - dq in bytes", [](auto& g) { g.dk = g.dq; });
            refuse("dv - dk in bytes", [](auto& g) { g.dv = g.dk + 304; });
            refuse("dv - dq in bytes", [](auto& g) { g.dv = g.dq + 304; });
            refuse("d_positions - dk in bytes",
                   [](auto& g) { g.d_positions = reinterpret_cast<float*>(g.dk); });
            refuse("d_times - dq in bytes",
                   [](auto& g) { g.d_times = reinterpret_cast<float*>(g.dq); });
            refuse("bias.timestamps - dq in bytes", [&](auto& g) {
                g.dq = reinterpret_cast<T*>(const_cast<int64_t*>(call.bias.timestamps));
            });
            refuse("cu_seqlens.device - dv in bytes", [&](auto& g) {
                g.dv = reinterpret_cast<T*>(const_cast<int*>(call.cu_seqlens.device));
            });
            refuse("d_times - d_positions in bytes",
                   [](auto& g) { g.d_times = g.d_positions + 9; });
            refuse("bias.positions - d_times in bytes", [&](auto& g) {
                g.d_times = const_cast<float*>(call.bias.positions);
            });
            refuse("bias.times - d_positions in bytes", [&](auto& g) {
                g.d_positions = const_cast<float*>(call.bias.times);
            });
            memory.expect_untouched();
            memory.grade.expect_queued(
                [&](cudaStream_t s) { backward(memory.call, memory.out, s); });
            memory.cu_seqlens[1] = 6;
            refuse("cu_seqlens[1] is 6", [](auto&) {});
        });
}

TEST_CASE("what a mask and a bias do not need may be anything") {
    // Null, or nonsense: it is not looked at.
    const std::vector<int32_t> nonsense = {9, 8, 7, 6, 5, 4};
    with_type(
        GENERATE(fp32, bf16),
        [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
            Memory<T> memory(std::string("hstu_attention") + suffix);
            auto call = memory.call;
            call.mask.kind = HstuMask::causal;
            call.mask.left = -1;
            call.mask.contexts = {nullptr, nonsense.data()};
            call.mask.targets = {nullptr, nonsense.data()};
            call.mask.offsets = {nullptr, nonsense.data()};
            call.bias = {};
            call.bias.max_distance = -7;
            call.bias.buckets = 1000;
            memory.grade.expect_queued([&](cudaStream_t s) { forward(call, s); });
            call.mask.kind = HstuMask::local;
            call.mask.left = INT64_MAX;
            call.o = nullptr;
            auto out = memory.out;
            out.d_positions = out.d_times = nullptr;
            memory.grade.expect_queued([&](cudaStream_t s) { backward(call, out, s); });
            call.o = misaligned(out.dq);
            memory.grade.expect_queued([&](cudaStream_t s) { backward(call, out, s); });
        });
}

TEST_CASE("arrays may touch: they share no byte") {
    with_type(GENERATE(fp32, bf16),
              []<class T>(T, const char* suffix, auto* forward, auto* backward) {
                  Memory<T> memory(std::string("hstu_attention") + suffix);
                  constexpr int64_t kRows = 5 * 2 * 32;
                  auto call = memory.call;
                  call.o = const_cast<T*>(call.v) + kRows;
                  call.q = call.o + kRows;
                  memory.grade.expect_queued([&](cudaStream_t s) { forward(call, s); });
                  auto out = memory.out;
                  out.dq = const_cast<T*>(out.d_o) + kRows;
                  out.dk = out.dq + kRows;
                  out.dv = out.dk + kRows;
                  out.d_times = out.d_positions + 2 * 5;
                  memory.grade.expect_queued(
                      [&](cudaStream_t s) { backward(memory.call, out, s); });
              });
}

TEST_CASE("the largest sizes are taken, too") {
    with_type(GENERATE(fp32, bf16),
              []<class T>(T, const char* suffix, auto* forward, auto*) {
                  Memory<T> memory(std::string("hstu_attention") + suffix);
                  auto call = memory.call;
                  call.mask.kind = HstuMask::local;
                  call.mask.left = call.mask.right = INT64_MAX;
                  call.scaling_length = INT64_MAX;
                  call.alpha = -std::numeric_limits<float>::max();
                  call.bias.max_distance = 1 << 30;
                  call.bias.buckets = 65;
                  call.bias.times = nullptr;  // their table is a small one
                  memory.grade.expect_queued([&](cudaStream_t s) { forward(call, s); });
              });
}

TEST_CASE("no rows, no work") {
    const std::vector<int32_t> zeros(4);
    with_type(
        GENERATE(fp32, fp16, bf16),
        [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
            Memory<T> memory(std::string("hstu_attention") + suffix);
            auto call = memory.call;
            call.total = 0;
            call.batch = GENERATE(0, 3);
            call.cu_seqlens = {memory.grade.input("zeros", zeros), zeros.data()};
            call.q = call.k = call.v = call.o = nullptr;
            call.bias = {};
            memory.grade.expect_no_work([&](cudaStream_t s) { forward(call, s); });
            memory.grade.expect_no_work(
                [&](cudaStream_t s) { backward(call, HstuGradients<T>{}, s); });
        });
}

TEST_CASE("no rows: the gradients of the bias are zeros") {
    Call c{{0, 0}};
    c.bias = Bias::both;
    c.heads = 3;
    const auto type = GENERATE(fp32, fp16, bf16);
    grade(type, c, 1, Passes::backward);
    with_type(type, [&]<class T>(T, const char* suffix, auto*, auto* backward) {
        c.lengths = {};  // not even a sequence
        const auto p = random_problem<T>(c, 1);
        grade_backward<T>(std::string("hstu_backward") + suffix,
                          backward,
                          p,
                          expect_backward<T>(p),
                          c.text());
    });
}
