// transpose.cu: a transpose through a tile in shared memory, in 38 configurations.
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <algorithm>
#include <array>

#include "families.h"

namespace {

// #region layout
/// Where the tile's element (row, col) lies.
enum class Layout {
    plain,    ///< rows of kTile floats: a column is in one bank
    padded,   ///< rows of kTile + 1 floats
    swizzled  ///< rows of kTile floats; groups of kVector change places, by row
};

template <int kTile, Layout kLayout, int kVector>
__host__ __device__ constexpr int place(int row, int col) {
    if (kLayout == Layout::padded) return row * (kTile + 1) + col;
    if (kLayout == Layout::plain) return row * kTile + col;
    return row * kTile + (col ^ (row / kVector * kVector % 32));
}
// #endregion layout

// #region kernel
/// out = the transposed matrix. A block moves one tile: in by rows, out by columns.
///
/// @tparam kTile    edge of the tile: 32 or 64
/// @tparam kRows    rows of the tile that each thread moves, all asked for at once
/// @tparam kVector  floats of a load and of a store: 1, 2 or 4; divides rows and cols
///
/// Launch   grid tiles_across * tiles_down, block (kTile / kVector, kTile / kRows)
/// Traffic  reads and writes each element once
template <int kTile, int kRows, Layout kLayout, int kVector>
__global__ void transpose_kernel(const float* __restrict__ matrix,  // [rows, cols]
                                 float* __restrict__ out,           // [cols, rows]
                                 int64_t rows,
                                 int64_t cols,
                                 unsigned tiles_across) {
    using Group = Vector<kVector>;
    constexpr int kStep = kTile / kRows;
    constexpr int kPitch = kTile + (kLayout == Layout::padded ? 1 : 0);
    __shared__ __align__(16) float s_tile[kTile * kPitch];
    const int64_t first_row = int64_t{blockIdx.x / tiles_across} * kTile;
    const int64_t first_col = int64_t{blockIdx.x % tiles_across} * kTile;
    const int x = threadIdx.x * kVector;
    const int y = threadIdx.y;

    Group r_group[kRows] = {};  // what lies outside stays 0, and is not stored
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t row = first_row + y + i * kStep;
        if (row < rows && first_col + x < cols)
            r_group[i] =
                reinterpret_cast<const Group&>(matrix[row * cols + first_col + x]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int row = y + i * kStep;
        if (first_row + row >= rows || first_col + x >= cols) continue;
        float* to = s_tile + place<kTile, kLayout, kVector>(row, x);
        if (kLayout == Layout::padded) {  // its rows do not begin at a whole vector
#pragma unroll
            for (int k = 0; k < kVector; ++k)
                to[k] = r_group[i].value[k];
        } else {
            reinterpret_cast<Group&>(*to) = r_group[i];
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int col = y + i * kStep;
        if (first_col + col >= cols || first_row + x >= rows) continue;
        Group group;
#pragma unroll
        for (int k = 0; k < kVector; ++k)
            group.value[k] = s_tile[place<kTile, kLayout, kVector>(x + k, col)];
        reinterpret_cast<Group&>(out[(first_col + col) * rows + first_row + x]) = group;
    }
}
// #endregion kernel

/// How many passes shared memory needs for these words: each of its 32 banks gives one
/// word a pass. All words are different.
template <size_t kCount>
int passes_of(const std::array<int, kCount>& words) {
    std::array<int, 32> asked{};
    for (const int word : words)
        ++asked[static_cast<size_t>(word % 32)];
    return *std::max_element(asked.begin(), asked.end());
}

/// The passes of one warp for one of its rows: the store, and kVector loads.
template <int kTile, Layout kLayout, int kVector>
int passes_a_row() {
    constexpr int kAcross = kTile / kVector;
    std::array<int, 32 * kVector> stored{};
    std::array<std::array<int, 32>, kVector> loaded{};
    for (int lane = 0; lane < 32; ++lane) {
        const int x = lane % kAcross * kVector;
        const int y = lane / kAcross;
        for (int k = 0; k < kVector; ++k) {
            stored[static_cast<size_t>(lane * kVector + k)] =
                place<kTile, kLayout, kVector>(y, x + k);
            loaded[static_cast<size_t>(k)][static_cast<size_t>(lane)] =
                place<kTile, kLayout, kVector>(x + k, y);
        }
    }
    int passes = passes_of(stored);
    for (const auto& words : loaded)
        passes += passes_of(words);
    return passes;
}

/// What memory moves for a matrix of this many floats: whole sectors of 32 bytes. Where
/// rows do not begin with a sector, those of a tile begin and end in the middle of one,
/// which costs 28 bytes more on average.
///
/// @param pitch  floats from one row to the next
/// @param run    floats of a row that are in the same tile
double moved_bytes(double count, int64_t pitch, int64_t run) {
    const double waste = pitch % 8 == 0 ? 0.0 : 28.0;
    return count * (sizeof(float) + waste / static_cast<double>(run));
}

template <int kTile, int kRows, Layout kLayout, int kVector>
struct Transpose {
    static constexpr int kThreads = kTile / kVector * (kTile / kRows);
    static constexpr int kPitch = kTile + (kLayout == Layout::padded ? 1 : 0);

    static Footprint footprint(int64_t rows, int64_t cols) {
        Footprint f{};
        f.takes_shape = rows % kVector == 0 && cols % kVector == 0;
        f.threads = kThreads;
        f.shared_bytes = kTile * kPitch * static_cast<int>(sizeof(float));
        f.blocks_per_sm =
            blocks_per_sm(reinterpret_cast<const void*>(
                              transpose_kernel<kTile, kRows, kLayout, kVector>),
                          kThreads);
        f.blocks =
            wb::ceil_div(rows, int64_t{kTile}) * wb::ceil_div(cols, int64_t{kTile});
        const double count = static_cast<double>(rows) * static_cast<double>(cols);
        const int64_t across = std::clamp(cols, int64_t{1}, int64_t{kTile});
        const int64_t down = std::clamp(rows, int64_t{1}, int64_t{kTile});
        f.bytes = moved_bytes(count, cols, across) + moved_bytes(count, rows, down);
        f.bytes_in_flight = sizeof(float) * static_cast<double>(across * down);
        const double rows_of_warps =
            static_cast<double>(f.blocks) * kThreads / 32.0 * kRows;
        f.shared_passes = rows_of_warps * passes_a_row<kTile, kLayout, kVector>();
        return f;
    }

    static void launch(const float* matrix,
                       const float*,
                       float* out,
                       int64_t rows,
                       int64_t cols,
                       cudaStream_t stream) {
        using Group = Vector<kVector>;
        const wb::Arguments arguments("transpose");
        arguments.size("rows", rows)
            .size("cols", cols)
            .require(rows % kVector == 0, "rows", rows, "a multiple of the vector")
            .require(cols % kVector == 0, "cols", cols, "a multiple of the vector")
            .require(kThreads <= 1024, "threads", kThreads, "at most 1024 in a block");
        const int64_t groups = arguments.product("rows * cols", {rows, cols}) / kVector;
        arguments.device("matrix", reinterpret_cast<const Group*>(matrix), groups)
            .device("out", reinterpret_cast<const Group*>(out), groups);
        if (groups == 0) return;
        const int64_t across = wb::ceil_div(cols, int64_t{kTile});
        const int64_t blocks = across * wb::ceil_div(rows, int64_t{kTile});
        const dim3 block(kTile / kVector, kTile / kRows);
        transpose_kernel<kTile, kRows, kLayout, kVector>
            <<<wb::grid_size(blocks, 1), block, 0, stream>>>(
                matrix, out, rows, cols, static_cast<unsigned>(across));
        CUDA_CHECK_LAUNCH();
    }
};

std::string text_of(int vector) {
    return vector == 1 ? "float" : "float" + std::to_string(vector);
}

/// One line of the table.
template <int kTile, int kRows, Layout kLayout, int kVector>
Configuration configuration() {
    using Kernel = Transpose<kTile, kRows, kLayout, kVector>;
    constexpr const char* kLayouts[] = {"plain", "padded", "swizzled"};
    const auto layout = static_cast<int>(kLayout);
    return {"tile " + std::to_string(kTile) + ", " + std::to_string(kRows) + " rows, " +
                kLayouts[layout] + ", " + text_of(kVector),
            {kTile, kRows, layout, kVector},
            Kernel::footprint,
            Kernel::launch};
}

// #region table
/// All layouts and vectors.
template <int kTile, int kRows>
void add_all(std::vector<Configuration>& table) {
    table.push_back(configuration<kTile, kRows, Layout::plain, 1>());
    table.push_back(configuration<kTile, kRows, Layout::plain, 2>());
    table.push_back(configuration<kTile, kRows, Layout::plain, 4>());
    table.push_back(configuration<kTile, kRows, Layout::padded, 1>());
    table.push_back(configuration<kTile, kRows, Layout::padded, 2>());
    table.push_back(configuration<kTile, kRows, Layout::padded, 4>());
    table.push_back(configuration<kTile, kRows, Layout::swizzled, 1>());
    table.push_back(configuration<kTile, kRows, Layout::swizzled, 2>());
    table.push_back(configuration<kTile, kRows, Layout::swizzled, 4>());
}

Family make_family() {
    Family family{
        "transpose",
        {"tile", "rows", "layout", "vector"},
        {},
        [](int64_t rows, int64_t cols) { return rows * cols; },
    };
    add_all<32, 4>(family.table);
    add_all<32, 8>(family.table);
    add_all<64, 4>(family.table);
    add_all<64, 8>(family.table);
    // 2048 threads: more than a block may have. The compiler does not mind.
    family.table.push_back(configuration<64, 2, Layout::padded, 1>());
    family.table.push_back(configuration<64, 2, Layout::swizzled, 1>());
    return family;
}
// #endregion table

}  // namespace

int blocks_per_sm(const void* kernel, int threads) {
    int most = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, 0));
    if (threads > most) return 0;
    int blocks = 0;
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
    return blocks;
}

const Family& transpose_family() {
    static const Family family = make_family();
    return family;
}
