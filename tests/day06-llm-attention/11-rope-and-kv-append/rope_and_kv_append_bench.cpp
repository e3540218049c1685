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

constexpr int64_t kPage = 16;

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
    /// Of a sequence.
    int64_t pages() const { return (first + added + kPage - 1) / kPage; }
    /// Numbers of all pages of k, and as many of v.
    int64_t pool() const { return batch * pages() * kv_heads * kPage * head_dim; }
    std::string text() const {
        std::string text = std::to_string(tokens()) + " tokens, Hq" +
                           std::to_string(query_heads) + " Hkv" +
                           std::to_string(kv_heads) + " D" + std::to_string(head_dim);
        if (rotary_dim != head_dim)
            text += ", " + std::to_string(rotary_dim) + " rotary";
        return text + (pairs == RopePairs::neighbours ? ", neighbours" : "");
    }
};

/// Random numbers that are made on the host; larger arrays repeat them.
constexpr int64_t kNumbers = 1'000'003;

template <class T>
Array<T> upload(const std::vector<T>& from) {
    Array<T> array(static_cast<int64_t>(from.size()));
    array.upload(from);
    return array;
}

/// `count` numbers on the device: these, again and again.
template <class T>
Array<T> repeated(const std::vector<T>& numbers, int64_t count) {
    Array<T> array(count);
    const Array<T> once = upload(numbers);
    for (int64_t at = 0; at < count; at += once.size()) {
        const auto here = static_cast<size_t>(std::min(once.size(), count - at));
        CUDA_CHECK(cudaMemcpy(array.data() + at,
                              once.data(),
                              here * sizeof(T),
                              cudaMemcpyDeviceToDevice));
    }
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
    std::vector<T> numbers;      ///< of qkv, which repeats them
    std::vector<int32_t> pages;  ///< the table, on the host
};

/// FP8's scale of all heads.
constexpr float kScale = 0.05f;

template <class T, class Stored>
Problem<T, Stored> make_problem(Bench& bench, const Size& size) {
    const int64_t stride = (size.query_heads + 2 * size.kv_heads) * size.head_dim;
    const int64_t pages = size.pages();
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
    const int64_t all = size.tokens() * stride;
    std::vector<T> numbers;
    for (const float x : bench.random_normal(std::min(all, kNumbers)).host())
        numbers.push_back(static_cast<T>(x));
    Problem<T, Stored> problem{
        {},
        repeated(numbers, all),
        repeated(numbers, all),
        Array<Stored>(size.pool()),
        Array<Stored>(size.pool()),
        upload(sequences),
        upload(positions),
        upload(table),
        upload(std::vector<int32_t>(static_cast<size_t>(size.batch), 1)),
        std::move(angles),
        upload(std::vector<float>(static_cast<size_t>(size.kv_heads), kScale)),
        numbers,
        table};
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

/// The same number after it was turned, with the size of the sum; or as it was. Of a
/// value nothing turns.
struct Turned {
    double value;
    double size;
};
template <class T, class Stored>
Turned turned_number(const Problem<T, Stored>& made, const Size& size, int64_t i) {
    const auto number = [&](int64_t at) {
        const auto place = static_cast<size_t>(at) % made.numbers.size();
        return static_cast<double>(static_cast<float>(made.numbers[place]));
    };
    const int64_t column = i % made.call.q_stride;
    const int64_t d = column % size.head_dim;
    const int64_t turning = (size.query_heads + size.kv_heads) * size.head_dim;
    if (column >= turning || d >= size.rotary_dim) return {number(i), 0.0};
    const int64_t half = size.rotary_dim / 2;
    const bool split = size.pairs == RopePairs::halves;
    const bool is_first = split ? d < half : d % 2 == 0;
    const int64_t other =
        split ? (is_first ? i + half : i - half) : (is_first ? i + 1 : i - 1);
    const int64_t pair = split ? d % half : d / 2;
    const int64_t position = size.first + i / made.call.q_stride % size.added;
    const int64_t angle = (position * half + pair) * 2;
    const double c = double{made.angles.at(angle)};
    const double s = double{made.angles.at(angle + 1)} * (is_first ? -1.0 : 1.0);
    return {number(i) * c + number(other) * s,
            std::abs(number(i) * c) + std::abs(number(other) * s)};
}

/// What a number of the matrix of q, k and v becomes: those of q turn.
template <class T, class Stored>
Expected expected_number(const Problem<T, Stored>& made, const Size& size, int64_t i) {
    const int64_t d = i % size.head_dim;
    const bool turns = i % made.call.q_stride < size.query_heads * size.head_dim &&
                       d < size.rotary_dim;
    if (!turns) {
        const auto place = static_cast<size_t>(i) % made.numbers.size();
        return {static_cast<double>(static_cast<float>(made.numbers[place])), 0.0};
    }
    const auto [value, sum] = turned_number(made, size, i);
    const double unit = std::is_same_v<T, __half> ? 0x1p-11 : 0x1p-8;
    return {value, 0x1p-21 * sum + unit * std::abs(value) + 0x1p-25};
}

/// The new rows of one pool, [tokens, kv_heads, head_dim], wherever their pages are.
template <class T, class Stored>
struct Appended {
    const Problem<T, Stored>& made;
    const Size& shape;
    const Array<Stored>& pool;

    int64_t size() const { return shape.tokens() * shape.kv_heads * shape.head_dim; }
    void poison() const { pool.poison(); }
    float at(int64_t i) const {
        const int64_t head = i / shape.head_dim % shape.kv_heads;
        const int64_t token = i / shape.head_dim / shape.kv_heads;
        const int64_t position = shape.first + token % shape.added;
        const int64_t entry =
            token / shape.added * made.call.cache.pages_per_sequence + position / kPage;
        const int64_t page = made.pages[static_cast<size_t>(entry)];
        const int64_t row = made.call.cache.row(page, head, position % kPage);
        return static_cast<float>(pool.at(row + i % shape.head_dim));
    }
    /// Of k, or of v.
    Expected expected(int64_t i, bool of_v) const {
        const int64_t width = shape.kv_heads * shape.head_dim;
        const int64_t column = shape.query_heads * shape.head_dim + of_v * width;
        auto [value, sum] = turned_number(
            made, shape, i / width * made.call.q_stride + column + i % width);
        double unit = std::is_same_v<T, __half> ? 0x1p-11 : 0x1p-8;
        double least = 0x1p-25;
        if constexpr (std::is_same_v<Stored, __nv_fp8_e4m3>) {
            unit = 0x1p-4;
            least = 0x1p-10;
            value /= double{kScale};
            sum = sum / double{kScale} + std::abs(value);
        }
        return {value, 0x1p-21 * sum + unit * std::abs(value) + least};
    }
};

/// Bytes by the contract: numbers of q that do not turn stay where they are.
template <class T, class Stored>
double bytes_of(const Size& size) {
    const auto turning =
        static_cast<double>(size.tokens() * size.query_heads * size.rotary_dim);
    const auto appended =
        static_cast<double>(size.tokens() * 2 * size.kv_heads * size.head_dim);
    return 2.0 * sizeof(T) * turning + (sizeof(T) + sizeof(Stored)) * appended +
           4.0 * static_cast<double>(size.added * size.rotary_dim);
}

/// The versions of one type. A launch turns q in place, so it is set back before each
/// check.
template <class T, class Stored>
void time_versions(Bench& bench,
                   const char* exercise,
                   void (*contract)(const RopeAppend<T, Stored>&,
                                    const wb::PagedWorkspace&,
                                    cudaStream_t),
                   const Size& size) {
    const double bytes = bytes_of<T, Stored>(size);
    const auto numbers = static_cast<double>(
        size.tokens() * (size.query_heads + 2 * size.kv_heads) * size.head_dim);
    const auto pools = 2.0 * sizeof(Stored) * static_cast<double>(size.pool());
    if (!bench.fits(bytes + 2.0 * sizeof(T) * numbers + pools)) return;
    const auto made = make_problem<T, Stored>(bench, size);
    const wb::PagedWorkspace workspace(1);
    auto problem = bench.problem({size.text(), Ceiling::copy, bytes});
    problem.restore(
        [&](cudaStream_t stream) { made.qkv.copy_from(made.again, stream); });
    problem.expect("q, k and v", made.qkv, [&](int64_t i) {
        return expected_number(made, size, i);
    });
    const Appended<T, Stored> keys{made, size, made.k_pool};
    const Appended<T, Stored> values{made, size, made.v_pool};
    problem.expect("cache.k", keys, [&](int64_t i) { return keys.expected(i, false); });
    problem.expect(
        "cache.v", values, [&](int64_t i) { return values.expected(i, true); });
    for (const auto& [name, idea, run] : wb::implementations(exercise, contract)) {
        problem.time(name, idea, [&, run = run](cudaStream_t stream) {
            run(made.call, workspace, stream);
        });
    }
    // Where as many bytes are read as written: what is left to win at this size.
    if constexpr (std::is_same_v<Stored, __nv_bfloat16>) problem.time_copying();
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
        const std::vector<double> speeds = rope_frequencies({2 * pairs});
        const auto frequencies = upload(speeds);
        const Array<float> angles(2 * rows * pairs);
        auto problem = bench.problem(
            {std::to_string(rows) + " positions, " + std::to_string(pairs) + " pairs",
             Ceiling::copy,
             bytes});
        problem.expect("angles", angles, [&](int64_t i) {
            const double angle = static_cast<double>(i / 2 / pairs) *
                                 speeds[static_cast<size_t>(i / 2 % pairs)];
            const double exact = i % 2 == 0 ? std::cos(angle) : std::sin(angle);
            return Expected{exact,
                            0x1p-24 * std::abs(exact) + 0x1p-50 + 0x1p-52 * angle};
        });
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
