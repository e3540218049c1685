// gemv.cu: a matrix times a vector, in 36 configurations.
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <algorithm>

#include "families.h"

namespace {

constexpr unsigned kAllLanes = 0xffffffffu;

// #region kernel
/// out = matrix x. A team of threads computes one element: each takes every kTeam-th
/// group of the row, kUnroll of them at a time, and the team adds up.
///
/// @tparam kBlock   threads in a block
/// @tparam kTeam    threads that share a row: 8, 32, or the whole block
/// @tparam kVector  floats of a load: 1 or 4; divides cols
/// @tparam kUnroll  groups that a thread asks for before it waits
///
/// Launch   grid ceil_div(rows, kBlock / kTeam), block kBlock
/// Traffic  reads the matrix once; x comes from the caches
/// Error    <= gamma(cols) * sum of |matrix x|: any order of cols fused multiply-adds
template <int kBlock, int kTeam, int kVector, int kUnroll>
__global__ void gemv_kernel(const float* __restrict__ matrix,  // [rows, cols]
                            const float* __restrict__ x,       // [cols]
                            float* __restrict__ out,           // [rows]
                            int64_t rows,
                            int64_t cols) {
    using Group = Vector<kVector>;
    constexpr int64_t kStep = kTeam * kVector;
    const int64_t row = int64_t{blockIdx.x} * (kBlock / kTeam) + threadIdx.x / kTeam;
    float sum = 0.0f;
    if (row < rows) {
        const float* a = matrix + row * cols;
        const auto group_at = [](const float* from, int64_t col) {
            return reinterpret_cast<const Group&>(from[col]);
        };
        int64_t col = int64_t{threadIdx.x % kTeam} * kVector;
        for (; col + (kUnroll - 1) * kStep < cols; col += kUnroll * kStep) {
            Group r_a[kUnroll];
#pragma unroll
            for (int u = 0; u < kUnroll; ++u)
                r_a[u] = group_at(a, col + u * kStep);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                const Group r_x = group_at(x, col + u * kStep);
#pragma unroll
                for (int k = 0; k < kVector; ++k)
                    sum = fmaf(r_a[u].value[k], r_x.value[k], sum);
            }
        }
        for (; col < cols; col += kStep) {  // fewer than kUnroll groups are left
            const Group r_a = group_at(a, col);
            const Group r_x = group_at(x, col);
#pragma unroll
            for (int k = 0; k < kVector; ++k)
                sum = fmaf(r_a.value[k], r_x.value[k], sum);
        }
    }
#pragma unroll
    for (int offset = (kTeam < 32 ? kTeam : 32) / 2; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(kAllLanes, sum, offset);
    if constexpr (kTeam > 32) {
        __shared__ float s_sums[kBlock / 32];
        if (threadIdx.x % 32 == 0) s_sums[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int warp = 1; warp < kBlock / 32; ++warp)
                sum += s_sums[warp];
    }
    if (row < rows && threadIdx.x % kTeam == 0) out[row] = sum;
}
// #endregion kernel

template <int kBlock, int kTeam, int kVector, int kUnroll>
struct Gemv {
    static constexpr int kRows = kBlock / kTeam;

    static Footprint footprint(int64_t rows, int64_t cols) {
        Footprint f{};
        f.takes_shape = cols % kVector == 0;
        f.threads = kBlock;
        f.shared_bytes = kTeam > 32 ? kBlock / 32 * static_cast<int>(sizeof(float)) : 0;
        f.blocks_per_sm = blocks_per_sm(
            reinterpret_cast<const void*>(gemv_kernel<kBlock, kTeam, kVector, kUnroll>),
            kBlock);
        f.blocks = wb::ceil_div(rows, int64_t{kRows});
        const auto m = static_cast<double>(rows);
        const auto n = static_cast<double>(cols);
        f.bytes = sizeof(float) * (m * n + m + n);
        const auto at_once = std::min(cols, int64_t{kTeam} * kVector * kUnroll);
        f.bytes_in_flight =
            sizeof(float) * static_cast<double>(std::min(rows, int64_t{kRows}) *
                                                std::max(at_once, int64_t{1}));
        return f;
    }

    static void launch(const float* matrix,
                       const float* x,
                       float* out,
                       int64_t rows,
                       int64_t cols,
                       cudaStream_t stream) {
        using Group = Vector<kVector>;
        const wb::Arguments arguments("gemv");
        arguments.size("rows", rows)
            .size("cols", cols)
            .require(cols % kVector == 0, "cols", cols, "a multiple of the vector");
        const int64_t groups = arguments.product("rows * cols", {rows, cols}) / kVector;
        arguments.device("matrix", reinterpret_cast<const Group*>(matrix), groups)
            .device("x", reinterpret_cast<const Group*>(x), cols / kVector)
            .device("out", out, rows);
        if (rows == 0) return;
        gemv_kernel<kBlock, kTeam, kVector, kUnroll>
            <<<wb::grid_size(rows, kRows), kBlock, 0, stream>>>(
                matrix, x, out, rows, cols);
        CUDA_CHECK_LAUNCH();
    }
};

/// One line of the table.
template <int kBlock, int kTeam, int kVector, int kUnroll>
Configuration configuration() {
    using Kernel = Gemv<kBlock, kTeam, kVector, kUnroll>;
    const std::string team = kTeam == kBlock ? "block" : std::to_string(kTeam);
    return {"block " + std::to_string(kBlock) + ", team " + team + ", float" +
                (kVector == 1 ? "" : std::to_string(kVector)) + ", unroll " +
                std::to_string(kUnroll),
            {kBlock, kTeam == kBlock ? 0 : kTeam, kVector, kUnroll},
            Kernel::footprint,
            Kernel::launch};
}

// #region table
/// All vectors and unrollings.
template <int kBlock, int kTeam>
void add_all(std::vector<Configuration>& table) {
    table.push_back(configuration<kBlock, kTeam, 1, 1>());
    table.push_back(configuration<kBlock, kTeam, 1, 2>());
    table.push_back(configuration<kBlock, kTeam, 1, 4>());
    table.push_back(configuration<kBlock, kTeam, 4, 1>());
    table.push_back(configuration<kBlock, kTeam, 4, 2>());
    table.push_back(configuration<kBlock, kTeam, 4, 4>());
}

Family make_family() {
    Family family{
        "gemv",
        {"block", "team", "vector", "unroll"},
        {},
        [](int64_t rows, int64_t) { return rows; },
    };
    add_all<128, 8>(family.table);
    add_all<128, 32>(family.table);
    add_all<128, 128>(family.table);
    add_all<256, 8>(family.table);
    add_all<256, 32>(family.table);
    add_all<256, 256>(family.table);
    return family;
}
// #endregion table

}  // namespace

const Family& gemv_family() {
    static const Family family = make_family();
    return family;
}
