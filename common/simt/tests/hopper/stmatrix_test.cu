// stmatrix: where each half of each register goes, for 1, 2 and 4 matrices, transposed
// and not; that ldmatrix brings it back; a product's accumulators through a swizzled
// tile. Passes on an H100, too.
#include <wb/ptx/ldmatrix.h>
#include <wb/ptx/stmatrix.h>
#include <wb/ptx/tma.h>

#include <string>

#include "hopper.h"
#ifdef SIMT_CPU
#include "simt/last_fault.h"
#endif

namespace ptx = wb::ptx;

namespace {

constexpr uint16_t kUntouched = 0xABCD;
constexpr int kRowElements = 16;  // of which a matrix takes 8
constexpr int kRows = 4 * 8;

/// What lane `lane` has of matrix `matrix`: all halves of a warp are different.
__host__ __device__ constexpr uint16_t half_of(int matrix, int lane, int half) {
    return static_cast<uint16_t>(1000 + 64 * matrix + 2 * lane + half);
}

/// Row i of matrix m goes to row place(8 m + i) of out [kRows][kRowElements]: rows far
/// apart, in no order.
__host__ __device__ constexpr int place(int i) {
    return (5 * i + 3) % kRows;
}

template <int kMatrices, bool kTranspose>
__global__ void store(uint16_t* out) {
    __shared__ alignas(16) uint16_t tile[kRows * kRowElements];
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = lane; i < kRows * kRowElements; i += 32)
        tile[i] = kUntouched;
    __syncwarp();
    uint32_t r[kMatrices];
    for (int m = 0; m < kMatrices; ++m)
        r[m] = half_of(m, lane, 0) | uint32_t{half_of(m, lane, 1)} << 16;
    ptx::stmatrix<kTranspose>(tile + place(lane) * kRowElements, r);
    __syncwarp();
    for (int i = lane; i < kRows * kRowElements; i += 32)
        out[i] = tile[i];
}

/// By the text of the PTX ISA: the lane that has element (row, column) of a matrix is
/// 4 row + column / 2, the half is column % 2; transposed, of element (column, row).
template <int kMatrices, bool kTranspose>
void test_store(const char* name) {
    std::vector<uint16_t> wanted(kRows * kRowElements, kUntouched);
    for (int m = 0; m < kMatrices; ++m) {
        for (int row = 0; row < 8; ++row) {
            for (int column = 0; column < 8; ++column) {
                const int r = kTranspose ? column : row;
                const int c = kTranspose ? row : column;
                wanted[place(8 * m + row) * kRowElements + column] =
                    half_of(m, 4 * r + c / 2, c % 2);
            }
        }
    }
    const check::Array<uint16_t> out(kRows * kRowElements);
    store<kMatrices, kTranspose><<<1, 32>>>(out.data());
    check::expect(check::all_equal(out.host(), [&](int i) { return wanted[i]; }), name);
}

/// Stores and loads back. Transposed both ways, too, nothing moves; transposed on one
/// way, row and column change places.
template <int kMatrices, bool kThere, bool kBack>
__global__ void there_and_back(int* out) {
    __shared__ alignas(16) uint16_t tile[kMatrices * 64];
    const int lane = static_cast<int>(threadIdx.x);
    uint32_t r[kMatrices], back[kMatrices];
    for (int m = 0; m < kMatrices; ++m)
        r[m] = half_of(m, lane, 0) | uint32_t{half_of(m, lane, 1)} << 16;
    uint16_t* const row = tile + lane % (8 * kMatrices) * 8;
    ptx::stmatrix<kThere>(row, r);
    __syncwarp();
    ptx::ldmatrix<kBack>(back, row);
    bool right = true;
    for (int m = 0; m < kMatrices; ++m) {
        for (int e = 0; e < 2; ++e) {
            const int row_of = lane / 4;
            const int column_of = lane % 4 * 2 + e;
            const bool turned = kThere != kBack;
            const int from_row = turned ? column_of : row_of;
            const int from_column = turned ? row_of : column_of;
            right = right &&
                    (back[m] >> 16 * e & 0xffff) ==
                        half_of(m, 4 * from_row + from_column / 2, from_column % 2);
        }
    }
    out[lane] = right;
}

template <class Kernel>
void expect_all_lanes(Kernel kernel, const char* name) {
    const check::Array<int> out(32);
    kernel<<<1, 32>>>(out.data());
    check::expect(check::all_equal(out.host(), [](int) { return 1; }), name);
}

/// The epilogue of a product: 16 rows of 64 columns, of which a lane has what wgmma
/// leaves it, through a tile with the 128-byte swizzle. Element (row, column) is 64 row
/// + column.
__global__ void epilogue(uint16_t* out) {
    __shared__ alignas(1024) unsigned char tile[16 * 128];
    const int lane = static_cast<int>(threadIdx.x);
    for (int column = 0; column < 64; column += 16) {
        // Matrices: rows 0-7 and 8-15 of 8 columns, then of the next 8.
        uint32_t r[4];
        for (int m = 0; m < 4; ++m) {
            const uint32_t first =
                64 * (lane / 4 + m % 2 * 8) + column + m / 2 * 8 + lane % 4 * 2;
            r[m] = first | (first + 1) << 16;
        }
        const uint32_t row = lane % 16;
        const uint32_t byte = 2 * (column + lane / 16 * 8);
        ptx::stmatrix(tile + ptx::swizzle_128b(row, byte), r);
    }
    __syncwarp();
    for (int i = lane; i < 16 * 64; i += 32) {
        const uint32_t at = ptx::swizzle_128b(i / 64, i % 64 * 2);
        out[i] = *reinterpret_cast<const uint16_t*>(tile + at);
    }
}

void test_epilogue() {
    const check::Array<uint16_t> out(16 * 64);
    epilogue<<<1, 32>>>(out.data());
    check::expect(check::all_equal(out.host(), [](int i) { return i; }),
                  "accumulators through a swizzled tile");
}

#ifdef SIMT_CPU
__global__ void store_at(unsigned char* global, int misplaced) {
    __shared__ alignas(16) unsigned char tile[32 * 16 + 8];
    unsigned char* row = tile + threadIdx.x * 16;
    if (threadIdx.x == 13) row = misplaced == 0 ? row + 8 : global;
    const uint32_t r[2] = {1, 2};
    ptx::stmatrix(row, r);
}

/// A fault is reported with the instruction's name.
void test_faults() {
    const char* const texts[] = {"is not a multiple of 16", "is not in shared memory"};
    for (int i = 0; i < 2; ++i) {
        const check::Array<unsigned char> global(64);
        store_at<<<1, 32>>>(global.data(), i);
        const bool failed = cudaDeviceSynchronize() != cudaSuccess;
        const std::string report = simt::last_fault();
        const std::string wanted = std::string("stmatrix: row address");
        check::expect(failed && report.find(wanted) != std::string::npos &&
                          report.find(texts[i]) != std::string::npos,
                      texts[i]);
        simt::clear_last_fault();
        cudaDeviceReset();
        (void)cudaGetLastError();
    }
}
#endif

}  // namespace

int main() {
    hopper::need_hopper();
    test_store<1, false>("stmatrix.x1");
    test_store<2, false>("stmatrix.x2");
    test_store<4, false>("stmatrix.x4");
    test_store<1, true>("stmatrix.x1.trans");
    test_store<2, true>("stmatrix.x2.trans");
    test_store<4, true>("stmatrix.x4.trans");
    expect_all_lanes(there_and_back<1, false, false>, "x1 and back");
    expect_all_lanes(there_and_back<2, true, true>, "x2.trans and back");
    expect_all_lanes(there_and_back<4, false, false>, "x4 and back");
    expect_all_lanes(there_and_back<4, true, false>, "x4.trans and back");
    expect_all_lanes(there_and_back<4, false, true>, "x4 and back transposed");
    test_epilogue();
#ifdef SIMT_CPU
    test_faults();
#endif
    return check::report();
}
