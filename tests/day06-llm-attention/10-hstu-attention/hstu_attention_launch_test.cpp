// Grades day06-llm-attention/10-hstu-attention: sizes that the simulator would take
// long to compute. Launches are queued, and do not run; or a GPU runs them.
#include "grading.h"

#include <wb/testing/simulator.h>

#include <memory>

using namespace hstu_grading;

namespace {

struct Free {
    void operator()(void* memory) const { (void)cudaFree(memory); }
};

/// Device memory for so many numbers; null if it is not to be had.
template <class T>
std::unique_ptr<T, Free> numbers_of(int64_t count) {
    void* raw = nullptr;
    if (cudaMalloc(&raw, static_cast<std::size_t>(count) * sizeof(T)) != cudaSuccess)
        (void)cudaGetLastError();
    return std::unique_ptr<T, Free>(static_cast<T*>(raw));
}

constexpr const char* kNoMemory = "the device memory is not to be had";

/// Queues both passes of sequences of these lengths. Where a mask has a list, the last
/// row sees each second key.
template <class T>
void expect_queued(const std::string& suffix,
                   Forward<T>* forward,
                   Backward<T>* backward,
                   const Call& c) {
    // What is read is one array, and nothing of it is ever touched.
    std::vector<int32_t> starts = {0};
    for (const int64_t length : c.lengths)
        starts.push_back(starts.back() + static_cast<int32_t>(length));
    const int64_t count = starts.back() * c.heads * c.head_dim;
    const auto memory = numbers_of<T>(4 * count);
    if (memory == nullptr) WB_SKIP(kNoMemory);
    T* const rows = memory.get();
    const std::string text = std::string(suffix).substr(1) + ", " + c.text();
    Grader grade("hstu_attention" + suffix, text);
    HstuCall<T> call = {};
    call.q = call.k = call.v = rows;
    call.o = rows + count;
    call.batch = static_cast<int64_t>(c.lengths.size());
    call.total = starts.back();
    call.heads = c.heads;
    call.head_dim = c.head_dim;
    call.alpha = c.scale();
    call.scaling_length = c.scaling_length;
    call.cu_seqlens = {grade.input("cu_seqlens", starts), starts.data()};
    std::vector<int32_t> offsets;
    std::vector<int32_t> intervals;
    call.mask.kind = c.mask;
    if (c.mask == HstuMask::arbitrary) {
        for (int32_t key = 0; key < c.lengths.back(); key += 2)
            intervals.insert(intervals.end(), {key, key + 1});
        offsets.assign(at(call.total), 0);
        offsets.push_back(static_cast<int32_t>(intervals.size() / 2));
        call.mask.offsets = {grade.input("offsets", offsets), offsets.data()};
        call.mask.intervals = {grade.input("intervals", intervals), intervals.data()};
    }
    HstuGradients<T> out = {};
    const int64_t positions = c.heads * (2 * c.max_distance + 1);
    const int64_t times = c.heads * c.buckets;
    const bool has_bias = c.bias == Bias::both;
    const auto tables = numbers_of<float>(has_bias ? 2 * (positions + times) : 1);
    const auto timestamps = numbers_of<int64_t>(has_bias ? call.total : 1);
    if (tables == nullptr || timestamps == nullptr) WB_SKIP(kNoMemory);
    if (has_bias) {
        float* const to = tables.get();
        call.bias = {to, c.max_distance, to + positions, c.buckets, timestamps.get()};
        out.d_positions = to + positions + times;
        out.d_times = out.d_positions + positions;
    }
    grade.expect_queued([&](cudaStream_t stream) { forward(call, stream); });
    out.d_o = rows;
    out.dq = rows + count;
    out.dk = out.dq + count;
    out.dv = out.dk + count;
    grade.is_now("hstu_backward" + suffix);
    grade.expect_queued([&](cudaStream_t stream) { backward(call, out, stream); });
}

}  // namespace

TEST_CASE("rows and sequences past what a block's memory or a grid's y can have") {
    // 65,536 tiles of 64 rows and one, all of one sequence; 65,536 sequences and one,
    // with a row each: only a grid's x has room for them. And all heads that there may
    // be, of as many sequences: x has no room for both, and y for one block of each.
    if (wb::testing::is_watched()) return;
    with_type(any_type(),
              []<class T>(T, const char* suffix, auto* forward, auto* backward) {
                  Call c{{(int64_t{1} << 22) + 1}};
                  c.head_dim = sizeof(T) == 2 ? GENERATE(64, 32) : 32;
                  expect_queued<T>(suffix, forward, backward, c);
                  c.lengths.assign((1 << 16) + 1, 1);
                  c.heads = 2;
                  expect_queued<T>(suffix, forward, backward, c);
                  c.lengths.assign(c.lengths.size(), 0);
                  c.lengths.back() = 1;
                  c.heads = 65'535;
                  expect_queued<T>(suffix, forward, backward, c);
                  if (c.head_dim == 64) return;
                  // Positions, times and intervals of more rows than fit, too.
                  c.lengths = {1 << 17};
                  c.heads = 1;
                  c.bias = Bias::both;
                  c.max_distance = 1 << 17;
                  expect_queued<T>(suffix, forward, backward, c);
                  c.mask = HstuMask::arbitrary;
                  expect_queued<T>(suffix, forward, backward, c);
              });
}

TEST_CASE("more than 2^31 numbers in an array of rows", "[large]") {
    // Sequences of 64 rows, of which each sees itself: all are zeros but the last one.
    const auto graded = []<class T>(const std::string& suffix,
                                    Forward<T>* forward,
                                    Backward<T>* backward,
                                    int64_t sequences) {
        Call c{{64}};
        c.heads = 16;
        c.head_dim = 64;
        c.mask = HstuMask::local;
        c.left = c.right = 0;
        const HstuProblem p = random_problem<T>(c, 1);
        const int64_t count = static_cast<int64_t>(p.q.size());
        const int64_t all = sequences * count;
        // q, k and v are one array, and d_o is, too; o, then dq, then dk and dv.
        const auto rows = numbers_of<T>(all);
        const auto sums = numbers_of<T>(all);
        if (rows == nullptr || sums == nullptr) WB_SKIP(kNoMemory);
        HstuProblem same = p;
        same.k = same.v = same.d_o = p.q;
        const auto last_bytes = static_cast<std::size_t>(count) * sizeof(T);
        const auto all_bytes = last_bytes * static_cast<std::size_t>(sequences);
        CUDA_CHECK(cudaMemset(rows.get(), 0, all_bytes));
        const auto stored = stored_as<T>(p.q);
        CUDA_CHECK(cudaMemcpy(rows.get() + all - count,
                              stored.data(),
                              last_bytes,
                              cudaMemcpyHostToDevice));
        std::vector<int32_t> starts;
        for (int64_t b = 0; b <= sequences; ++b)
            starts.push_back(static_cast<int32_t>(64 * b));
        const std::string text = std::to_string(sequences) + " of " + c.text();
        Grader grade("hstu_attention" + suffix, text);
        HstuCall<T> call = {};
        call.q = call.k = call.v = rows.get();
        call.batch = sequences;
        call.total = 64 * sequences;
        call.heads = c.heads;
        call.head_dim = c.head_dim;
        call.alpha = c.scale();
        call.scaling_length = c.scaling_length;
        call.mask.kind = c.mask;
        call.cu_seqlens = {grade.input("cu_seqlens", starts), starts.data()};
        call.o = sums.get();
        const auto copy_last = [&](T* to, const T* from, cudaStream_t stream) {
            CUDA_CHECK(cudaMemcpyAsync(
                to, from + all - count, last_bytes, cudaMemcpyDeviceToDevice, stream));
        };
        const wb::testing::Shape shape = {64, c.heads, c.head_dim};
        T* const o = grade.output<T>("o", shape);
        grade.run([&](cudaStream_t stream) {
            forward(call, stream);
            copy_last(o, call.o, stream);
        });
        expect(grade, "o", expect_forward<T>(same).o);
        const auto more = numbers_of<T>(2 * all);
        if (more == nullptr) WB_SKIP(kNoMemory);
        Grader again("hstu_backward" + suffix, text);
        call.cu_seqlens.device = again.input("cu_seqlens", starts);
        const HstuGradients<T> out = {
            rows.get(), sums.get(), more.get(), more.get() + all, nullptr, nullptr};
        T* const dq = again.output<T>("dq", shape);
        T* const dk = again.output<T>("dk", shape);
        T* const dv = again.output<T>("dv", shape);
        again.run([&](cudaStream_t stream) {
            backward(call, out, stream);
            copy_last(dq, out.dq, stream);
            copy_last(dk, out.dk, stream);
            copy_last(dv, out.dv, stream);
        });
        const Expected e = expect_backward<T>(same);
        expect(again, "dq", e.dq);
        expect(again, "dk", e.dk);
        expect(again, "dv", e.dv);
    };
    with_type(GENERATE(fp32, bf16),
              [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
                  graded.template operator()<T>(suffix, forward, backward, 2);
#ifdef SIMT_CPU
                  WB_SKIP("2^31 numbers take the simulator too long");
#else
                  graded.template operator()<T>(suffix, forward, backward, 32'769);
#endif
              });
}
