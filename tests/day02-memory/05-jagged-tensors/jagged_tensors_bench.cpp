// Times day02-memory/05-jagged-tensors: rows of 20 entries on average, and one long
// row, beside a copy of as many bytes.
#include "jagged_tensors.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>
#include <wb/reference/jagged.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

/// Rows of 0 to 40 entries in turn; or, if num_rows is 1, one of max_length.
struct Size {
    int64_t num_rows;
    int64_t max_length;
    int64_t dim;

    std::string text() const {
        if (num_rows == 1)
            return "one row of " + std::to_string(max_length) + ", dim " +
                   std::to_string(dim);
        return std::to_string(num_rows) + " rows of 20, dim " + std::to_string(dim);
    }
};

/// The lengths that torch_peers.py has, too.
std::vector<int32_t> lengths_of(int64_t num_rows) {
    std::vector<int32_t> lengths;
    for (int64_t r = 0; r < num_rows; ++r)
        lengths.push_back(static_cast<int32_t>(r * 7919 % 41));
    return lengths;
}

std::vector<int64_t> offsets_of(const Size& size) {
    if (size.num_rows == 1) return {0, size.max_length};
    return wb::reference::jagged_offsets(lengths_of(size.num_rows));
}

/// Any bits: two elements of each random float.
struct Elements {
    Elements(Bench& bench, int64_t count)
        : floats(bench.random_normal(count / 2 + 1)) {}

    const __nv_bfloat16* data() const {
        return reinterpret_cast<const __nv_bfloat16*>(floats.data());
    }
    double at(int64_t i) const {
        uint16_t bits = 0;
        CUDA_CHECK(cudaMemcpy(&bits, data() + i, sizeof bits, cudaMemcpyDeviceToHost));
        return bits;
    }
    Array<float> floats;
};

__nv_bfloat16* elements(const Array<uint16_t>& bits) {
    return reinterpret_cast<__nv_bfloat16*>(bits.data());
}

/// Narrow offsets on the device: half the bytes.
Array<int32_t> upload(const std::vector<int64_t>& offsets) {
    Array<int32_t> device(static_cast<int64_t>(offsets.size()));
    device.upload({offsets.begin(), offsets.end()});
    return device;
}

/// The row of an entry.
int64_t row_of(const std::vector<int64_t>& offsets, int64_t entry) {
    return std::upper_bound(offsets.begin(), offsets.end(), entry) - offsets.begin() -
           1;
}

std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

void time_to_dense(Bench& bench, const Size& size) {
    const auto offsets = offsets_of(size);
    const int64_t total = offsets.back();
    const int64_t dense_count = size.num_rows * size.max_length * size.dim;
    const double bytes = 2.0 * static_cast<double>(total * size.dim + dense_count) +
                         4.0 * static_cast<double>(offsets.size());
    if (!bench.fits(bytes)) return;
    const Elements values(bench, total * size.dim);
    const auto d_offsets = upload(offsets);
    const auto dense = bench.output<uint16_t>(dense_count);
    const wb::JaggedCheck check;
    const JaggedShape shape = {size.num_rows, total, size.max_length, size.dim};
    auto problem = bench.problem({size.text(), Ceiling::copy, bytes});
    problem.expect("dense", dense, [&](int64_t i) {
        const int64_t row = i / size.dim / size.max_length;
        const int64_t entry = offsets[at(row)] + i / size.dim % size.max_length;
        if (entry >= offsets[at(row + 1)]) return Expected{0.0, 0.0};
        return Expected{values.at(entry * size.dim + i % size.dim), 0.0};
    });
    for (const auto& [name, idea, launch] :
         wb::implementations("jagged_to_dense", jagged_to_dense)) {
        problem.time(name, idea, [&, launch = launch](cudaStream_t stream) {
            launch(values.data(),
                   d_offsets.data(),
                   elements(dense),
                   shape,
                   check.status(),
                   stream);
        });
    }
    check.check(nullptr);
}

void time_from_dense(Bench& bench, const Size& size) {
    const auto offsets = offsets_of(size);
    const int64_t total = offsets.back();
    const int64_t dense_count = size.num_rows * size.max_length * size.dim;
    const double bytes = 4.0 * static_cast<double>(total * size.dim) +
                         4.0 * static_cast<double>(offsets.size());
    if (!bench.fits(bytes + 2.0 * static_cast<double>(dense_count))) return;
    const Elements dense(bench, dense_count);
    const auto d_offsets = upload(offsets);
    const auto values = bench.output<uint16_t>(total * size.dim);
    const wb::JaggedCheck check;
    const JaggedShape shape = {size.num_rows, total, size.max_length, size.dim};
    auto problem = bench.problem({size.text(), Ceiling::copy, bytes});
    problem.expect("values", values, [&](int64_t i) {
        const int64_t row = row_of(offsets, i / size.dim);
        const int64_t t = i / size.dim - offsets[at(row)];
        return Expected{dense.at((row * size.max_length + t) * size.dim + i % size.dim),
                        0.0};
    });
    for (const auto& [name, idea, launch] :
         wb::implementations("dense_to_jagged", dense_to_jagged)) {
        problem.time(name, idea, [&, launch = launch](cudaStream_t stream) {
            launch(dense.data(),
                   d_offsets.data(),
                   elements(values),
                   shape,
                   check.status(),
                   stream);
        });
    }
    check.check(nullptr);
}

/// Two tensors with the same rows, of half the entries each: the numbers in `size` are
/// those of the tensor with the rows of both.
struct Pair {
    explicit Pair(const Size& size)
        : offsets(size.num_rows == 1 ? one_of_many(size.max_length / 2)
                                     : offsets_of(size)),
          d_offsets(upload(offsets)),
          d_sums(static_cast<int64_t>(offsets.size())),
          shape{static_cast<int64_t>(offsets.size()) - 1,
                offsets.back(),
                offsets.back(),
                size.dim},
          count(2 * offsets.back() * size.dim),
          bytes(4.0 * static_cast<double>(count) +
                8.0 * static_cast<double>(offsets.size())) {}

    /// One row in the middle of 2^18 empty ones has all entries.
    static std::vector<int64_t> one_of_many(int64_t entries) {
        constexpr int64_t kRows = 1 << 18;
        std::vector<int64_t> offsets(at(kRows + 1), entries);
        std::fill(offsets.begin(), offsets.begin() + kRows / 2 + 1, 0);
        return offsets;
    }

    /// Where element i of both is, in a, or behind all of a in b.
    int64_t place(int64_t i) const {
        const int64_t entry = i / shape.dim;
        const int64_t row = row_of(doubled(), entry);
        const int64_t first = offsets[at(row)];
        const int64_t length = offsets[at(row + 1)] - first;
        const int64_t t = entry - 2 * first;
        const int64_t from =
            t < length ? first + t : shape.a_total + first + t - length;
        return from * shape.dim + i % shape.dim;
    }
    std::vector<int64_t> doubled() const {
        std::vector<int64_t> sums = offsets;
        for (int64_t& sum : sums)
            sum *= 2;
        return sums;
    }

    std::vector<int64_t> offsets;
    Array<int32_t> d_offsets;
    Array<int32_t> d_sums;
    PairShape shape;
    int64_t count;
    double bytes;
    wb::JaggedCheck check;
};

void time_concat(Bench& bench, const Size& size) {
    const Pair pair(size);
    if (!bench.fits(pair.bytes)) return;
    const Elements parts(bench, pair.count);  // a, and b behind it
    const auto values = bench.output<uint16_t>(pair.count);
    auto problem = bench.problem({size.text(), Ceiling::copy, pair.bytes});
    problem.expect("values", values, [&](int64_t i) {
        return Expected{parts.at(pair.place(i)), 0.0};
    });
    for (const auto& [name, idea, launch] :
         wb::implementations("jagged_concat", jagged_concat)) {
        problem.time(name, idea, [&, launch = launch](cudaStream_t stream) {
            launch(parts.data(),
                   pair.d_offsets.data(),
                   parts.data() + pair.count / 2,
                   pair.d_offsets.data(),
                   elements(values),
                   pair.d_sums.data(),
                   pair.shape,
                   pair.check.status(),
                   stream);
        });
    }
    pair.check.check(nullptr);
}

void time_split(Bench& bench, const Size& size) {
    const Pair pair(size);
    if (!bench.fits(pair.bytes)) return;
    const Elements values(bench, pair.count);
    const auto parts = bench.output<uint16_t>(pair.count);  // a, and b behind it
    auto problem = bench.problem({size.text(), Ceiling::copy, pair.bytes});
    problem.expect("a and b", parts, [&](int64_t i) {
        // The inverse of place(): rows of a and of b are alike.
        const bool of_b = i >= pair.count / 2;
        const int64_t entry = (of_b ? i - pair.count / 2 : i) / size.dim;
        const int64_t row = row_of(pair.offsets, entry);
        const int64_t length = pair.offsets[at(row + 1)] - pair.offsets[at(row)];
        const int64_t from = entry + pair.offsets[at(row)] + (of_b ? length : 0);
        return Expected{values.at(from * size.dim + i % size.dim), 0.0};
    });
    for (const auto& [name, idea, launch] :
         wb::implementations("jagged_split", jagged_split)) {
        problem.time(name, idea, [&, launch = launch](cudaStream_t stream) {
            launch(values.data(),
                   pair.d_offsets.data(),
                   pair.d_offsets.data(),
                   elements(parts),
                   elements(parts) + pair.count / 2,
                   pair.shape,
                   pair.check.status(),
                   stream);
        });
    }
    pair.check.check(nullptr);
}

void time_offsets(Bench& bench, int64_t num_rows) {
    const double bytes = 8.0 * static_cast<double>(num_rows);
    if (!bench.fits(bytes)) return;
    const auto lengths = lengths_of(num_rows);
    const auto expected = wb::reference::jagged_offsets(lengths);
    Array<int32_t> d_lengths(num_rows);
    d_lengths.upload(lengths);
    const auto offsets = bench.output<int32_t>(num_rows + 1);
    const wb::JaggedCheck check;
    auto problem =
        bench.problem({std::to_string(num_rows) + " rows", Ceiling::copy, bytes});
    problem.expect("offsets", offsets, [&](int64_t i) {
        return Expected{static_cast<double>(expected[at(i)]), 0.0};
    });
    for (const auto& [name, idea, launch] :
         wb::implementations("jagged_offsets", jagged_offsets)) {
        problem.time(name, idea, [&, launch = launch](cudaStream_t stream) {
            launch(d_lengths.data(), offsets.data(), num_rows, check.status(), stream);
        });
    }
    check.check(nullptr);
}

/// As many bytes as dense_to_jagged() moves, copied by the library: the peer of all.
void time_copy(Bench& bench, const Size& size) {
    const int64_t count = offsets_of(size).back() * size.dim;
    const double bytes = 4.0 * static_cast<double>(count);
    if (!bench.fits(bytes)) return;
    const Elements from(bench, count);
    const auto to = bench.output<uint16_t>(count);
    auto problem = bench.problem({size.text(), Ceiling::copy, bytes});
    problem.expect("copy", to, [&](int64_t i) { return Expected{from.at(i), 0.0}; });
    problem.time("cudaMemcpyAsync", "library", [&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemcpyAsync(to.data(),
                                   from.data(),
                                   static_cast<std::size_t>(count) * sizeof(uint16_t),
                                   cudaMemcpyDeviceToDevice,
                                   stream));
    });
}

std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{20, 41, 8}, {1, 500, 8}},
                             {{1 << 11, 41, 64}, {1, 1 << 15, 64}},
                             {{1 << 18, 41, 64}, {1, 1 << 20, 64}, {1 << 18, 41, 6}},
                             {{1 << 9, 41, 64}});
}

}  // namespace

WB_BENCH(jagged_offsets, bench) {
    for (const int64_t num_rows :
         bench.sizes<int64_t>({1000}, {1 << 14}, {1 << 18, 1 << 22}, {1 << 13}))
        time_offsets(bench, num_rows);
}

WB_BENCH(jagged_to_dense, bench) {
    for (const Size& size : sizes(bench))
        time_to_dense(bench, size);
}

WB_BENCH(dense_to_jagged, bench) {
    for (const Size& size : sizes(bench))
        time_from_dense(bench, size);
}

WB_BENCH(jagged_concat, bench) {
    for (const Size& size : sizes(bench))
        time_concat(bench, size);
}

WB_BENCH(jagged_split, bench) {
    for (const Size& size : sizes(bench))
        time_split(bench, size);
}

WB_BENCH(jagged_copy, bench) {
    for (const Size& size : sizes(bench))
        time_copy(bench, size);
}
