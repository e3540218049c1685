// Times day03-parallel-patterns/01-reduction: how close do sums, the largest element
// and its place come to just reading, and how large is the error of each way to add?
#include "reduction.h"

#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/reference/reduction.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reduction_bench_peers.h"

using namespace wb::bench;

namespace {

/// From a launch that is little but its latency to a gigabyte of floats.
std::vector<int64_t> sizes(const Bench& bench) {
    return bench.sizes<int64_t>(
        {5000}, {1 << 16, 1 << 24}, {1 << 16, 1 << 20, 1 << 24, 1 << 28}, {1 << 19});
}

template <class T, class R>
using Function = void(const T*, R*, int64_t, unsigned*, cudaStream_t);

/// One function on x: all its versions, the library, and a kernel that only reads.
template <class T, class R>
struct Timed {
    Bench& bench;
    const Array<T>& x;
    Expected expected;
    Array<R> result = bench.output<R>(1);
    Array<unsigned> counter = bench.output<unsigned>(1);
    Problem problem = bench.problem({"n = " + std::to_string(x.size()),
                                     Ceiling::read,
                                     static_cast<double>(x.size()) * sizeof(T)});

    /// @param note  called with the problem before each version is timed
    template <class Note>
    void versions(const char* name, Function<T, R>* contract, Note note) {
        counter.upload({0});
        problem.expect("result", result, [&](int64_t) { return expected; });
        for (const auto& [version, idea, call] : wb::implementations(name, contract)) {
            const auto launch = [&, call = call](cudaStream_t stream) {
                call(x.data(), result.data(), x.size(), counter.data(), stream);
            };
            launch(nullptr);
            note(problem, static_cast<double>(result.at(0)));
            problem.time(version, idea, launch);
        }
    }

    /// @param call  of CUB
    template <class Call>
    void library(const char* rung, Call call) {
        const Array<char> scratch(
            static_cast<int64_t>(reduction_peers::scratch_bytes(x.size())));
        problem.time(rung, "library", [&](cudaStream_t stream) {
            call(scratch.data(),
                 scratch.bytes(),
                 x.data(),
                 result.data(),
                 x.size(),
                 stream);
        });
    }
};

/// The bound of the contract, for whichever type of number.
double bound_of(int64_t n, double magnitude) {
    const double ku = (40.0 + static_cast<double>(n / 65536)) * 0x1p-24;
    return ku / (1.0 - ku) * magnitude;
}

/// Float sums: each row says how large its error is, in units of u = 2^-24 of the sum
/// of the absolute values.
template <class T>
void time_sums(Bench& bench, const char* name, Function<T, float>* contract) {
    for (const int64_t n : sizes(bench)) {
        if (!bench.fits(2.0 * sizeof(T) * static_cast<double>(n))) continue;
        const auto x = random_numbers<T>(bench, n);
        const auto host = x.host();
        const auto exact = wb::reference::reduce_sum(host);
        Timed<T, float> timed{bench, x, {exact.sum, bound_of(n, exact.magnitude)}};
        timed.versions(name, contract, [&](Problem& problem, double got) {
            const double error = std::abs(got - exact.sum) / exact.magnitude;
            problem.note("error_in_u", error * 0x1p24);
        });
        timed.library("cub Sum",
                      [](auto... arguments) { reduction_peers::sum(arguments...); });
        if constexpr (std::is_same_v<T, float>) timed.problem.time_reading();
    }
}

/// The largest element and where it is.
template <class R>
Timed<float, R> of_largest(Bench& bench, const Array<float>& x) {
    const auto host = x.host();
    const int64_t best = wb::reference::reduce_argmax(host);
    const bool is_index = std::is_integral_v<R>;
    const double value =
        is_index ? static_cast<double>(best) : double{host[static_cast<size_t>(best)]};
    return {bench, x, {value, 0.0}};
}

constexpr auto kNoNote = [](Problem&, double) {};

}  // namespace

WB_BENCH(reduce_sum, bench) {
    time_sums<float>(bench, "reduce_sum", reduce_sum);
}

WB_BENCH(reduce_sum_bf16, bench) {
    time_sums<bf16>(bench, "reduce_sum_bf16", reduce_sum_bf16);
}

WB_BENCH(reduce_sum_i32, bench) {
    for (const int64_t n : sizes(bench)) {
        if (!bench.fits(2.0 * sizeof(int32_t) * static_cast<double>(n))) continue;
        const auto floats = bench.random_normal(n);  // their bits are the integers
        const Array<int32_t> x(n);
        CUDA_CHECK(
            cudaMemcpy(x.data(), floats.data(), x.bytes(), cudaMemcpyDeviceToDevice));
        int64_t sum = 0;
        for (const int32_t element : x.host())
            sum += element;
        Timed<int32_t, int64_t> timed{bench, x, {static_cast<double>(sum), 0.0}};
        timed.versions("reduce_sum_i32", reduce_sum_i32, kNoNote);
        timed.library("cub Reduce",
                      [](auto... arguments) { reduction_peers::sum(arguments...); });
    }
}

WB_BENCH(reduce_max, bench) {
    for (const int64_t n : sizes(bench)) {
        if (!bench.fits(sizeof(float) * static_cast<double>(n))) continue;
        const auto x = bench.random_normal(n);
        auto timed = of_largest<float>(bench, x);
        timed.versions("reduce_max", reduce_max, kNoNote);
        timed.library("cub Max",
                      [](auto... arguments) { reduction_peers::max(arguments...); });
    }
}

WB_BENCH(reduce_argmax, bench) {
    for (const int64_t n : sizes(bench)) {
        if (!bench.fits(sizeof(float) * static_cast<double>(n))) continue;
        const auto x = bench.random_normal(n);
        of_largest<int64_t>(bench, x).versions("reduce_argmax", reduce_argmax, kNoNote);
    }
}
