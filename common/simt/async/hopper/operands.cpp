// The operands of wgmma, and the product.

#include "operands.h"

#include <bit>

#include "byte_sums.h"
#include "core/observer.h"
#include "several_at_a_time.h"
#include "simt/formats.h"
#include "simt/tensor.h"
#include "tensor_map.h"

namespace simt::detail {
namespace {

/// Where the 16 bytes lie, before swizzling, that hold, of an operand
/// * stored K-major: the half `half` of row `row`;
/// * transposed: element `k` of 8 neighbouring rows, of which `row` is the first.
///
/// Source: PTX ISA, "Strides" and "Canonical Layouts" of wgmma's matrices in shared
/// memory: core matrices of 8 rows of 16 bytes, or of the swizzle's width.
unsigned k_major_offset(const MatrixDescriptor& d, unsigned row, unsigned half) {
    const unsigned group = row / 8 * d.stride;
    if (d.swizzle_bytes == 0) return group + row % 8 * 16 + half * d.leading;
    return group + row % 8 * unsigned(d.swizzle_bytes) + half * 16;
}
unsigned transposed_offset(const MatrixDescriptor& d, unsigned row, unsigned k) {
    const unsigned unit = row / 8;
    if (d.swizzle_bytes == 0) return unit * d.stride + k % 8 * 16 + k / 8 * d.leading;
    const unsigned width = unsigned(d.swizzle_bytes);
    const unsigned units = width / 16;
    return unit / units * d.leading + unit % units * 16 + k % 8 * width +
           k / 8 * d.stride;
}

/// The variable of shared memory that an address of 18 bits points into, and where.
const SharedVariable* find_variable(const Block& b, unsigned address, char** at) {
    constexpr uintptr_t kWindow = uintptr_t{1} << 18;
    for (const SharedVariable& v : b.shared.variables) {
        const auto begin = reinterpret_cast<uintptr_t>(v.begin);
        const uintptr_t offset = (address - begin) & (kWindow - 1);
        if (offset >= v.size) continue;
        *at = v.begin + offset;
        return &v;
    }
    return nullptr;
}

struct Reader {
    Worker& w;
    MatrixDescriptor descriptor;
    const SharedVariable* variable;
    char* start;
    const char* name;
    const char* file;
    int line;

    void copy(unsigned offset, unsigned char* to) const {
        const auto at = swizzled(reinterpret_cast<uintptr_t>(start) + offset,
                                 descriptor.swizzle_bytes);
        const auto begin = reinterpret_cast<uintptr_t>(variable->begin);
        if (at < begin || at + 16 > begin + variable->size)
            hopper_fault(w,
                         file,
                         line,
                         "%s reaches %zd bytes past the end of shared "
                         "`%s` (%zu bytes):\n    look at the descriptor's strides",
                         name,
                         static_cast<ptrdiff_t>(at + 16 - begin - variable->size),
                         variable->name,
                         variable->size);
        std::memcpy(to, reinterpret_cast<const void*>(at), 16);
    }
};

template <class F>
std::vector<float> widened(const std::vector<unsigned char>& bytes) {
    std::vector<float> numbers(bytes.size() / sizeof(typename F::Bits));
    for (size_t i = 0; i < numbers.size(); ++i) {
        typename F::Bits bits;
        std::memcpy(&bits, &bytes[i * sizeof(bits)], sizeof(bits));
        numbers[i] = widen<F>(bits);
    }
    return numbers;
}

/// The numbers of an operand, row by row.
std::vector<float> numbers_of(ptx::detail::WgmmaFormat format,
                              const std::vector<unsigned char>& bytes) {
    if (format == ptx::detail::WgmmaFormat::e4m3) return widened<E4m3>(bytes);
    if (format == ptx::detail::WgmmaFormat::bfloat16) return widened<Bfloat16>(bytes);
    return widened<Binary16>(bytes);
}

/// Adds to each of n sums kTogether products, one after the other: a[k] * b[k][column].
/// Several columns at a time: most of the time of an emulated product goes here.
constexpr int kTogether = 4;
SIMT_SEVERAL_AT_A_TIME void add_products(float* __restrict sums,
                                         const float* a,
                                         const float* __restrict b,
                                         int n) {
    const float a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    for (int column = 0; column < n; ++column) {
        float sum = sums[column];
        sum += a0 * b[column];
        sum += a1 * b[column + n];
        sum += a2 * b[column + 2 * n];
        sum += a3 * b[column + 3 * n];
        sums[column] = sum;
    }
}

}  // namespace

std::vector<unsigned char> read_operand(Worker& w,
                                        const MatrixDescriptor& d,
                                        int rows,
                                        bool transposed,
                                        const char* name,
                                        const char* file,
                                        int line) {
    char* start = nullptr;
    const SharedVariable* variable = find_variable(*w.block, d.address, &start);
    if (!variable)
        hopper_fault(w,
                     file,
                     line,
                     "the descriptor of %s points to 0x%x, where the "
                     "block has no shared variable",
                     name,
                     d.address);
    if (d.base_offset != 0)
        hopper_fault(w,
                     file,
                     line,
                     "%s: the simulator supports no base offset in a descriptor: "
                     "let the tile begin at a multiple of 1024",
                     name);
    const Reader reader{w, d, variable, start, name, file, line};
    std::vector<unsigned char> bytes(static_cast<size_t>(rows) * 32);
    const auto count = static_cast<unsigned>(rows);
    if (!transposed) {
        for (unsigned i = 0; i < 2 * count; ++i)
            reader.copy(k_major_offset(d, i / 2, i % 2), &bytes[16 * i]);
        return bytes;
    }
    for (unsigned row = 0; row < count; row += 8) {
        for (unsigned k = 0; k < 16; ++k) {
            unsigned char unit[16];
            reader.copy(transposed_offset(d, row, k), unit);
            for (unsigned i = 0; i < 8; ++i)
                std::memcpy(&bytes[(row + i) * 32 + 2 * k], unit + 2 * i, 2);
        }
    }
    return bytes;
}

void tell_operand_reads(Worker& w,
                        const MatrixDescriptor& d,
                        int rows,
                        bool transposed,
                        unsigned share,
                        unsigned shares,
                        uint32_t product) {
    char* start = nullptr;
    if (!find_variable(*w.block, d.address, &start)) return;  // reported at the issue
    const auto units = static_cast<unsigned>(2 * rows);
    for (unsigned i = share; i < units; i += shares) {
        const unsigned offset = transposed ? transposed_offset(d, i / 16 * 8, i % 16)
                                           : k_major_offset(d, i / 2, i % 2);
        const auto at =
            swizzled(reinterpret_cast<uintptr_t>(start) + offset, d.swizzle_bytes);
        observer->async_access(reinterpret_cast<void*>(at), 16, false, product);
    }
}

/// values (rows x n) = a * b (+ values) for signed bytes: sums of 32 bits wrap.
void multiply_bytes(
    bool accumulate, int rows, int n, const WgmmaOperands& operands, float* values) {
    constexpr int kDepth = 32;
    note_product(TensorType::i8, rows, n, kDepth);
    const auto number = [](const std::vector<unsigned char>& bytes, int row, int k) {
        return int{static_cast<int8_t>(bytes[static_cast<size_t>(row * kDepth + k)])};
    };
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < n; ++column) {
            float& value = values[row * n + column];
            uint32_t sum = accumulate ? std::bit_cast<uint32_t>(value) : 0;
            for (int k = 0; k < kDepth; ++k)
                sum += static_cast<uint32_t>(number(operands.a, row, k) *
                                             number(operands.b, column, k));
            value = std::bit_cast<float>(sum);
        }
    }
}

void multiply(ptx::detail::WgmmaFormat format,
              bool accumulate,
              int rows,
              int n,
              const WgmmaOperands& operands,
              float* values) {
    if (format == ptx::detail::WgmmaFormat::s8)
        return multiply_bytes(accumulate, rows, n, operands, values);
    const bool bytes = format == ptx::detail::WgmmaFormat::e4m3;
    const int depth = bytes ? 32 : 16;
    note_product(bytes ? TensorType::f8 : TensorType::f16, rows, n, depth);
    const std::vector<float> a = numbers_of(format, operands.a);
    const std::vector<float> columns = numbers_of(format, operands.b);
    std::vector<float> b(static_cast<size_t>(depth * n));
    for (int column = 0; column < n; ++column)
        for (int k = 0; k < depth; ++k)
            b[static_cast<size_t>(k * n + column)] =
                columns[static_cast<size_t>(column * depth + k)];
    if (!accumulate) std::fill_n(values, rows * n, 0.0f);
    if (bytes) return add_byte_products(rows, n, a.data(), b.data(), values);
    for (int row = 0; row < rows; ++row)
        for (int k = 0; k < depth; k += kTogether)
            add_products(values + row * n,
                         &a[static_cast<size_t>(row * depth + k)],
                         &b[static_cast<size_t>(k * n)],
                         n);
}

}  // namespace simt::detail
