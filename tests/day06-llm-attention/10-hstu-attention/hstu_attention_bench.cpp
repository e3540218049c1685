// Times day06-llm-attention/10-hstu-attention: long histories with a causal mask, and
// many short ones.
#include "hstu_attention.h"

#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/implementations.h>
#include <wb/reference/hstu.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

using namespace wb::bench;

namespace {

/// Sequences of one length, causal.
struct Size {
    int64_t batch;
    int64_t heads;
    int64_t length;
    int64_t head_dim;

    std::string text() const {
        return "B" + std::to_string(batch) + " H" + std::to_string(heads) + " N" +
               std::to_string(length) + " D" + std::to_string(head_dim) + ", causal";
    }
    int64_t total() const { return batch * length; }
    int64_t numbers() const { return total() * heads * head_dim; }
    /// Pairs of a row and a key that it sees, half of all, as attention is compared.
    double pairs() const { return 0.5 * static_cast<double>(total() * length * heads); }
};

/// Sizes for type T; bf16, which is what is used, has the most.
template <class T>
std::vector<Size> sizes(const Bench& bench) {
#ifdef SIMT_CPU
    // ./learn xray watches every access.
    if (simt::check::active()) return {{1, 1, 64, 64}};
#endif
    const std::vector<Size> tiny = {{2, 1, 70, 64}};
    const std::vector<Size> small = {{8, 4, 1024, 128}};
    if constexpr (!std::is_same_v<T, __nv_bfloat16>)
        return bench.sizes<Size>(
            tiny, small, {{1024, 4, 200, 128}, {8, 4, 1024, 128}, {8, 4, 4096, 128}});
    return bench.sizes<Size>(tiny,
                             small,
                             {{1024, 4, 200, 128},
                              {8, 4, 1024, 128},
                              {32, 4, 1024, 128},
                              {8, 4, 4096, 64},
                              {8, 4, 4096, 256},
                              {2, 4, 16384, 128},
                              {8, 4, 4096, 128}});
}

/// How many pairs of a row and a key, times D, a version is run for that has no tiles,
/// or has tiles without tensor cores. More would take it seconds, 20 times.
constexpr double kMostOfPlain = 3e9;
constexpr double kMostOfTiled = 4e10;

template <class T>
constexpr Ceiling ceiling_of() {
    if constexpr (std::is_same_v<T, float>)
        return Ceiling::fp32;
    else
        return std::is_same_v<T, __half> ? Ceiling::fp16 : Ceiling::bf16;
}

/// All arrays of a call.
template <class T>
struct Problem {
    Size size;
    std::vector<int32_t> starts;
    Array<int32_t> d_starts;
    Array<T> q, k, v;
    HstuCall<T> call = {};

    Problem(Bench& bench, const Size& size)
        : size(size),
          d_starts(size.batch + 1),
          q(random_numbers<T>(bench, size.numbers())),
          k(random_numbers<T>(bench, size.numbers())),
          v(random_numbers<T>(bench, size.numbers())) {
        for (int64_t b = 0; b <= size.batch; ++b)
            starts.push_back(static_cast<int32_t>(b * size.length));
        d_starts.upload(starts);
        call.q = q.data();
        call.k = k.data();
        call.v = v.data();
        call.batch = size.batch;
        call.total = size.total();
        call.heads = size.heads;
        call.head_dim = size.head_dim;
        call.alpha = 1.0f / std::sqrt(static_cast<float>(size.head_dim));
        call.scaling_length = size.length;
        call.cu_seqlens = {d_starts.data(), starts.data()};
    }
};

/// A row of numbers, as floats.
template <class T>
std::vector<float> row_at(const Array<T>& array, int64_t first, int64_t count) {
    std::vector<float> row;
    for (int64_t i = first; i < first + count; ++i)
        row.push_back(static_cast<float>(array.at(i)));
    return row;
}

bool too_slow(const std::string& rung, const Size& size) {
    const double work = size.pairs() * static_cast<double>(size.head_dim);
    if (rung.ends_with("_v1")) return work > kMostOfPlain;
    return rung.ends_with("_v2") && work > kMostOfTiled;
}

/// The versions that are fast enough for a size.
template <class Contract>
auto versions_of(const char* exercise, Contract* contract, const Size& size) {
    auto all = wb::implementations(exercise, contract);
    std::erase_if(all, [&](const auto& each) { return too_slow(each.name, size); });
    return all;
}

template <class T>
void time_forward(Bench& bench,
                  const char* exercise,
                  void (*contract)(const HstuCall<T>&, cudaStream_t)) {
    for (const Size& size : sizes<T>(bench)) {
        const double flop = 4.0 * size.pairs() * static_cast<double>(size.head_dim);
        const auto versions = versions_of(exercise, contract, size);
        if (versions.empty()) continue;
        if (!bench.fits(4.0 * sizeof(T) * static_cast<double>(size.numbers())))
            continue;
        Problem<T> made(bench, size);
        const auto o = bench.output<T>(size.numbers());
        made.call.o = o.data();
        const auto host_k = made.k.host();
        const auto host_v = made.v.host();
        auto problem = bench.problem({size.text(),
                                      ceiling_of<T>(),
                                      flop,
                                      Cache::cold,
                                      static_cast<double>(size.total())});
        problem.expect(
            "o",
            o,
            [&](int64_t i) {
                const int64_t D = size.head_dim;
                const int64_t stride = size.heads * D;
                const int64_t token = i / stride;
                const auto q = row_at(made.q, i / D * D, D);
                double sum = 0.0;
                double total = 0.0;
                for (int64_t j = token / size.length * size.length; j <= token; ++j) {
                    const int64_t at = j * stride + i % stride / D * D;
                    double score = 0.0;
                    for (int64_t d = 0; d < D; ++d)
                        score += double{q[static_cast<size_t>(d)]} *
                                 static_cast<double>(static_cast<float>(
                                     host_k[static_cast<size_t>(at + d)]));
                    const double term =
                        wb::reference::hstu_silu(score * double{made.call.alpha}) *
                        static_cast<double>(static_cast<float>(
                            host_v[static_cast<size_t>(at + i % D)]));
                    sum += term;
                    total += std::abs(term);
                }
                // Each weight is rounded, and so is the result.
                const double unit = sizeof(T) == 4              ? 0x1p-18
                                    : std::is_same_v<T, __half> ? 0x1p-10
                                                                : 0x1p-7;
                const double n = static_cast<double>(size.length);
                return Expected{sum / n, (unit * total + 1e-5 * total) / n + 1e-6};
            },
            16);
        for (const auto& [name, idea, run] : versions) {
            problem.time(name, idea, [&, run = run](cudaStream_t stream) {
                run(made.call, stream);
            });
        }
    }
}

/// The gradients of a call in double, an element at a time. All arrays are those of the
/// device, and their copies on the host.
template <class T>
struct RightGradients {
    Size size;
    double alpha;
    std::vector<T> q, k, v, d_o;

    RightGradients(const Problem<T>& made, const Array<T>& d_o)
        : size(made.size),
          alpha(double{made.call.alpha}),
          q(made.q.host()),
          k(made.k.host()),
          v(made.v.host()),
          d_o(d_o.host()) {}

    double dot(const std::vector<T>& a,
               int64_t i,
               const std::vector<T>& b,
               int64_t j) const {
        double sum = 0.0;
        for (int64_t d = 0; d < size.head_dim; ++d)
            sum += number(a, i + d) * number(b, j + d);
        return sum;
    }
    static double number(const std::vector<T>& array, int64_t i) {
        return static_cast<double>(static_cast<float>(array[static_cast<size_t>(i)]));
    }
    static Expected of(double sum, double total) {
        // Weights and their slopes are rounded, and so is the result.
        const double unit = sizeof(T) == 4 ? 0x1p-18 : 0x1p-7;
        return {sum, 2.0 * unit * total + 1e-6};
    }

    /// Of dq: a row and all keys that it sees.
    Expected dq(int64_t element) const {
        return sum(element, false, [&](int64_t row, int64_t key) {
            const double slope =
                wb::reference::hstu_silu_slope(alpha * dot(q, row, k, key));
            return alpha * slope * dot(d_o, row, v, key) *
                   number(k, key + element % size.head_dim);
        });
    }
    /// Of dv: a key and all rows that see it.
    Expected dv(int64_t element) const {
        return sum(element, true, [&](int64_t row, int64_t key) {
            return wb::reference::hstu_silu(alpha * dot(q, row, k, key)) *
                   number(d_o, row + element % size.head_dim);
        });
    }

    /// @param term  takes the first elements of a row and of a key
    template <class Term>
    Expected sum(int64_t element, bool is_key, Term term) const {
        const int64_t D = size.head_dim;
        const int64_t stride = size.heads * D;
        const int64_t own = element / D * D;
        const int64_t token = element / stride;
        const int64_t first = token / size.length * size.length;
        double all = 0.0;
        double total = 0.0;
        for (int64_t other = is_key ? token : first;
             other < (is_key ? first + size.length : token + 1);
             ++other) {
            const int64_t at = other * stride + own % stride;
            const double each = is_key ? term(at, own) : term(own, at);
            all += each;
            total += std::abs(each);
        }
        const double n = static_cast<double>(size.length);
        return of(all / n, total / n);
    }
};

template <class T>
void time_backward(Bench& bench,
                   const char* exercise,
                   void (*contract)(const HstuCall<T>&,
                                    const HstuGradients<T>&,
                                    cudaStream_t)) {
    for (const Size& size : sizes<T>(bench)) {
        // Five products, as backward passes are compared, however many a version makes.
        const double flop = 10.0 * size.pairs() * static_cast<double>(size.head_dim);
        const auto versions = versions_of(exercise, contract, size);
        if (versions.empty()) continue;
        if (!bench.fits(8.0 * sizeof(T) * static_cast<double>(size.numbers())))
            continue;
        const Problem<T> made(bench, size);
        const auto d_o = random_numbers<T>(bench, size.numbers());
        const auto dq = bench.output<T>(size.numbers());
        const auto dk = bench.output<T>(size.numbers());
        const auto dv = bench.output<T>(size.numbers());
        const HstuGradients<T> out = {
            d_o.data(), dq.data(), dk.data(), dv.data(), nullptr, nullptr};
        auto problem = bench.problem({size.text(),
                                      ceiling_of<T>(),
                                      flop,
                                      Cache::cold,
                                      static_cast<double>(size.total())});
        const RightGradients<T> right(made, d_o);
        problem.expect(
            "dq", dq, [&](int64_t i) { return right.dq(i); }, 16);
        problem.expect(
            "dv", dv, [&](int64_t i) { return right.dv(i); }, 16);
        for (const auto& [name, idea, run] : versions) {
            problem.time(name, idea, [&, run = run](cudaStream_t stream) {
                run(made.call, out, stream);
            });
        }
    }
}

}  // namespace

WB_BENCH(hstu_attention_bf16, bench) {
    time_forward<__nv_bfloat16>(bench, "hstu_attention_bf16", hstu_attention_bf16);
}

WB_BENCH(hstu_attention_fp16, bench) {
    time_forward<__half>(bench, "hstu_attention_fp16", hstu_attention_fp16);
}

WB_BENCH(hstu_attention_fp32, bench) {
    time_forward<float>(bench, "hstu_attention_fp32", hstu_attention_fp32);
}

WB_BENCH(hstu_backward_bf16, bench) {
    time_backward<__nv_bfloat16>(bench, "hstu_backward_bf16", hstu_backward_bf16);
}
