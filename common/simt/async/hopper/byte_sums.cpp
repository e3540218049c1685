// Sums of products of e4m3 numbers, with as many bits as the tensor cores keep.

#include "byte_sums.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "several_at_a_time.h"

namespace simt::detail {
namespace {

constexpr int kProducts = 32;
constexpr int kFraction = 13;    // bits of a sum behind its first one
constexpr int kZero = -1000;     // power of a zero
constexpr int kLeastPower = -6;  // of an e4m3 number, subnormal or not
constexpr int kLeastProduct = 2 * kLeastPower;

/// e, if 2^e is the first bit of x.
int power_of(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x) << 1;
    if (bits == 0) return kZero;
    return std::max(static_cast<int>(bits >> 24), 1) - 127;
}

std::vector<int> powers_of_bytes(const float* numbers, int count) {
    std::vector<int> powers(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i)
        powers[static_cast<size_t>(i)] =
            numbers[i] == 0.0f ? kZero : std::max(power_of(numbers[i]), kLeastPower);
    return powers;
}

float power_of_2(int power) {
    return std::bit_cast<float>(static_cast<uint32_t>(power + 127) << 23);
}

bool is_nan(float x) {
    return x != x;
}

/// Neither infinite nor NaN.
bool is_finite(float x) {
    return (std::bit_cast<uint32_t>(x) >> 23 & 0xff) != 0xff;
}

float cut_off(float x) {
    constexpr uint32_t kRest = (1u << (23 - kFraction)) - 1;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & ~kRest);
}

SIMT_SEVERAL_AT_A_TIME void find_largest_powers(int* __restrict largest,
                                                int a,
                                                const int* __restrict b,
                                                int n) {
    for (int column = 0; column < n; ++column)
        largest[column] = std::max(largest[column], a + b[column]);
}

/// A product in units, of which there are `scales` in 1; a conversion to int cuts off.
SIMT_SEVERAL_AT_A_TIME void add_units(int* __restrict sums,
                                      const float* __restrict scales,
                                      float a,
                                      const float* __restrict b,
                                      int n) {
    for (int column = 0; column < n; ++column)
        sums[column] += static_cast<int>(a * b[column] * scales[column]);
}

bool has_nan(const float* numbers, int count, int stride) {
    for (int k = 0; k < count; ++k)
        if (is_nan(numbers[k * stride])) return true;
    return false;
}

}  // namespace

void add_byte_products(int rows, int n, const float* a, const float* b, float* values) {
    const auto columns = static_cast<size_t>(n);
    const std::vector<int> a_powers = powers_of_bytes(a, rows * kProducts);
    const std::vector<int> b_powers = powers_of_bytes(b, kProducts * n);
    std::vector<char> nan_columns(columns);
    for (int column = 0; column < n; ++column)
        nan_columns[static_cast<size_t>(column)] = has_nan(b + column, kProducts, n);
    std::vector<int> powers(columns);
    std::vector<int> sums(columns);
    std::vector<float> scales(columns);
    for (int row = 0; row < rows; ++row) {
        const float* const factors = a + row * kProducts;
        float* const out = values + row * n;
        for (size_t i = 0; i < columns; ++i)
            powers[i] = power_of(out[i]);
        for (int k = 0; k < kProducts; ++k)
            find_largest_powers(powers.data(),
                                a_powers[static_cast<size_t>(row * kProducts + k)],
                                &b_powers[static_cast<size_t>(k * n)],
                                n);
        for (size_t i = 0; i < columns; ++i) {
            const bool none = powers[i] < kLeastProduct || !is_finite(out[i]);
            scales[i] = none ? 0.0f : power_of_2(kFraction - powers[i]);
            sums[i] = none ? 0 : static_cast<int>(out[i] * scales[i]);
        }
        const bool nan_row = has_nan(factors, kProducts, 1);
        for (int k = 0; k < kProducts && !nan_row; ++k)
            add_units(sums.data(), scales.data(), factors[k], b + k * n, n);
        for (size_t i = 0; i < columns; ++i) {
            if (nan_row || nan_columns[i])
                out[i] = std::numeric_limits<float>::quiet_NaN();
            else if (scales[i] != 0.0f)
                out[i] = cut_off(static_cast<float>(sums[i]) *
                                 power_of_2(powers[i] - kFraction));
            else if (is_finite(out[i]))
                out[i] = cut_off(out[i]);
        }
    }
}

}  // namespace simt::detail
