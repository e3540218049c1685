// Times day06-llm-attention/11-rope-and-kv-append: a prompt, and a step of decoding.
#include "rope_and_kv_append.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "frequencies.h"

using namespace wb::bench;

namespace {

/// New tokens of `batch` sequences, each behind `first` old ones.
struct Size {
    int64_t batch;
    int64_t first;
    int64_t added;
    int64_t query_heads;
    int64_t kv_heads;
    int64_t head_dim;
    int64_t rotary_dim;
    RopePairs pairs = RopePairs::halves;

    int64_t tokens() const { return batch * added; }
    std::string text() const {
        std::string text = std::to_string(tokens()) + " tokens, Hq" +
                           std::to_string(query_heads) + " Hkv" +
                           std::to_string(kv_heads) + " D" + std::to_string(head_dim);
        if (rotary_dim != head_dim)
            text += ", " + std::to_string(rotary_dim) + " rotary";
        return text + (pairs == RopePairs::neighbours ? ", neighbours" : "");
    }
};

constexpr int64_t kPage = 16;

template <class T>
Array<T> upload(const std::vector<T>& from) {
    Array<T> array(static_cast<int64_t>(from.size()));
    array.upload(from);
    return array;
}

/// All arrays of a call: q, k and v are slices of one matrix, as a model's product
/// leaves them.
template <class T, class Stored>
struct Problem {
    RopeAppend<T, Stored> call = {};
    Array<T> qkv;
    Array<T> again;  ///< the same numbers: q is rotated in place
    Array<Stored> k_pool;
    Array<Stored> v_pool;
    Array<int32_t> sequences;
    Array<int32_t> positions;
    Array<int32_t> table;
    Array<int32_t> lengths;
    Array<float> angles;
    Array<float> scales;
    std::vector<T> numbers;
};

template <class T, class Stored>
Problem<T, Stored> make_problem(Bench& bench, const Size& size) {
    const int64_t stride = (size.query_heads + 2 * size.kv_heads) * size.head_dim;
    const int64_t pages = (size.first + size.added + kPage - 1) / kPage;
    const int64_t pool = size.batch * pages * size.kv_heads * kPage * size.head_dim;
    std::vector<int32_t> sequences;
    std::vector<int32_t> positions;
    for (int64_t s = 0; s < size.batch; ++s) {
        for (int64_t p = size.first; p < size.first + size.added; ++p) {
            sequences.push_back(static_cast<int32_t>(s));
            positions.push_back(static_cast<int32_t>(p));
        }
    }
    std::vector<int32_t> table(static_cast<size_t>(size.batch * pages));
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(1));
    const auto frequencies = upload(rope_frequencies({size.rotary_dim}));
    Array<float> angles(pages * kPage * size.rotary_dim);
    rope_angles(frequencies.data(),
                size.rotary_dim / 2,
                1.0,
                pages * kPage,
                reinterpret_cast<float2*>(angles.data()),
                nullptr);
    std::vector<T> numbers;
    for (const float x : bench.random_normal(size.tokens() * stride).host())
        numbers.push_back(static_cast<T>(x));
    Problem<T, Stored> problem{
        {},
        upload(numbers),
        upload(numbers),
        Array<Stored>(pool),
        Array<Stored>(pool),
        upload(sequences),
        upload(positions),
        upload(table),
        upload(std::vector<int32_t>(static_cast<size_t>(size.batch), 1)),
        std::move(angles),
        upload(std::vector<float>(static_cast<size_t>(size.kv_heads), 0.05f)),
        numbers};
    auto& call = problem.call;
    call.q = problem.qkv.data();
    call.k = call.q + size.query_heads * size.head_dim;
    call.v = call.k + size.kv_heads * size.head_dim;
    call.q_stride = call.k_stride = call.v_stride = stride;
    call.sequences = problem.sequences.data();
    call.positions = problem.positions.data();
    call.angles = reinterpret_cast<const float2*>(problem.angles.data());
    call.angle_rows = pages * kPage;
    call.tokens = size.tokens();
    call.query_heads = size.query_heads;
    call.rotary_dim = size.rotary_dim;
    call.pairs = size.pairs;
    call.cache = {problem.k_pool.data(),
                  problem.v_pool.data(),
                  problem.table.data(),
                  problem.lengths.data(),
                  size.batch,
                  pages,
                  size.batch * pages,
                  size.kv_heads,
                  kPage,
                  size.head_dim};
    if constexpr (std::is_same_v<Stored, __nv_fp8_e4m3>)
        call.k_scale = call.v_scale = problem.scales.data();
    return problem;
}

/// What a number of the matrix of q, k and v becomes: those of q turn.
template <class T, class Stored>
Expected expected_number(const Problem<T, Stored>& made, const Size& size, int64_t i) {
    const auto number = [&](int64_t at) {
        return static_cast<double>(
            static_cast<float>(made.numbers[static_cast<size_t>(at)]));
    };
    const int64_t column = i % made.call.q_stride;
    const int64_t d = column % size.head_dim;
    if (column >= size.query_heads * size.head_dim || d >= size.rotary_dim)
        return {number(i), 0.0};
    const int64_t half = size.rotary_dim / 2;
    const bool split = size.pairs == RopePairs::halves;
    const bool is_first = split ? d < half : d % 2 == 0;
    const int64_t other = split ? (is_first ? i + half : i - half) : i ^ 1;
    const int64_t pair = split ? d % half : d / 2;
    const int64_t position = size.first + i / made.call.q_stride % size.added;
    const int64_t angle = (position * half + pair) * 2;
    const double c = double{made.angles.at(angle)};
    const double s = double{made.angles.at(angle + 1)} * (is_first ? -1.0 : 1.0);
    const double value = number(i) * c + number(other) * s;
    const double sum = std::abs(number(i) * c) + std::abs(number(other) * s);
    const double unit = std::is_same_v<T, __half> ? 0x1p-11 : 0x1p-8;
    return {value, 0x1p-21 * sum + unit * std::abs(value) + 0x1p-25};
}

/// The versions of one type. Queries are checked. A launch turns them in place, so they
/// are set back before a check.
template <class T, class Stored>
void time_versions(Bench& bench,
                   const char* exercise,
                   void (*contract)(const RopeAppend<T, Stored>&,
                                    const wb::PagedWorkspace&,
                                    cudaStream_t),
                   const Size& size) {
    const int64_t numbers =
        size.tokens() * (size.query_heads + 2 * size.kv_heads) * size.head_dim;
    const int64_t stored = size.tokens() * 2 * size.kv_heads * size.head_dim;
    const double bytes =
        2.0 * static_cast<double>(numbers) +
        2.0 * static_cast<double>(numbers - stored) +
        static_cast<double>(stored) * static_cast<double>(sizeof(Stored)) +
        4.0 * static_cast<double>(size.added * size.rotary_dim);
    if (!bench.fits(4.0 * bytes)) return;
    const auto made = make_problem<T, Stored>(bench, size);
    const wb::PagedWorkspace workspace(1);
    auto problem = bench.problem({size.text(), Ceiling::copy, bytes});
    problem.restore([&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemcpyAsync(made.qkv.data(),
                                   made.again.data(),
                                   made.numbers.size() * sizeof(T),
                                   cudaMemcpyDeviceToDevice,
                                   stream));
    });
    problem.expect("q, k and v", made.qkv, [&](int64_t i) {
        return expected_number(made, size, i);
    });
    for (const auto& [name, idea, run] : wb::implementations(exercise, contract)) {
        problem.time(name, idea, [&, run = run](cudaStream_t stream) {
            run(made.call, workspace, stream);
        });
    }
    workspace.check(nullptr);
}

std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{2, 14, 3, 2, 1, 64, 64}},
                             {{1, 0, 2048, 32, 8, 128, 128}},
                             {{64, 4096, 1, 32, 8, 128, 128},
                              {4, 0, 4096, 32, 32, 128, 128},
                              {4, 0, 4096, 32, 8, 128, 32},
                              {4, 0, 4096, 32, 8, 128, 128, RopePairs::neighbours},
                              {4, 0, 4096, 32, 8, 128, 128}});
}

}  // namespace

WB_BENCH(rope_append_bf16, bench) {
    for (const Size& size : sizes(bench))
        time_versions(bench, "rope_append_bf16", rope_append_bf16, size);
}

WB_BENCH(rope_append_fp16, bench) {
    for (const Size& size : sizes(bench))
        time_versions(bench, "rope_append_fp16", rope_append_fp16, size);
}

WB_BENCH(rope_append_fp8, bench) {
    for (const Size& size : sizes(bench))
        time_versions(bench, "rope_append_fp8", rope_append_fp8, size);
}

WB_BENCH(rope_angles, bench) {
    for (const int64_t rows : bench.sizes<int64_t>({64}, {4096}, {65536})) {
        const int64_t pairs = 64;
        const double bytes = 8.0 * static_cast<double>(rows * pairs);
        const auto frequencies = upload(rope_frequencies({2 * pairs}));
        Array<float> angles(2 * rows * pairs);
        auto problem = bench.problem(
            {std::to_string(rows) + " positions, " + std::to_string(pairs) + " pairs",
             Ceiling::copy,
             bytes});
        for (const auto& [name, idea, run] :
             wb::implementations("rope_angles", rope_angles)) {
            problem.time(name, idea, [&, run = run](cudaStream_t stream) {
                run(frequencies.data(),
                    pairs,
                    1.0,
                    rows,
                    reinterpret_cast<float2*>(angles.data()),
                    stream);
            });
        }
    }
}
