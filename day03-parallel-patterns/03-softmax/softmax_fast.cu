// softmax_fast.cu: v4: a row is read once, 16 bytes a load, and stays in registers.
#include "softmax.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/ptx/exp2.h>

#include "rows.h"
#include "vectors.h"

// #region v4-weight
/// The weight of an element below `max`, the largest of its row, or 0 where all of them
/// are -inf. A bf16 has 8 bits: for it one instruction that computes 2^x to 22 bits is
/// enough.
template <class T>
__device__ __forceinline__ float weight(float element, float max) {
    if constexpr (sizeof(T) == sizeof(float))
        return expf(element - max);
    else
        return wb::ptx::exp2_approx((element - max) * static_cast<float>(wb::kLog2e));
}

/// What weights are taken below: of -inf alone nothing can be subtracted.
__device__ __forceinline__ float below(float max) {
    return max == -INFINITY ? 0.0f : max;
}
// #endregion v4-weight

// #region v4-part
/// What one thread holds of a slice that `kGroup` threads share: every kGroup-th
/// vector, and one of the edges.
///
/// @tparam kGroup    threads, 32 or more, of which this one is number `place`
/// @tparam kVectors  of a thread; the slice must have no more than kGroup * kVectors
template <class T, int kGroup, int kVectors>
struct Part {
    static_assert(kGroup >= 2 * kPerVector<T>, "each edge has a thread of its own");
    Vector<T> r_x[kVectors];
    float r_edge = -INFINITY;

    /// Reads all of it, before anything is used.
    __device__ __forceinline__ void load(const Slice<T>& slice, int place) {
        // TODO(learner): r_x[k] is vector place + k * kGroup of the slice, if there is
        // such a vector, and else nothing<T>(); r_edge is its edge number `place`, if
        // there is one (about 6 lines)
    }

    /// The largest element of the warp, and the sum of the warp's weights below it.
    __device__ __forceinline__ MaxSum measure() const {
        // TODO(learner): the largest of this thread's elements, its edge too, then of
        // the warp's; then the sum of all weight<T>(element, below(largest)), of the
        // thread and of the warp. unpack() makes floats of a vector (about 18 lines)
        return {};
    }

    /// Writes y, now that the whole row is known.
    __device__ __forceinline__ void store(const Slice<T>& slice,
                                          int place,
                                          MaxSum row) const {
        const float max = below(row.max);
        const float scale = 1.0f / row.sum;
        if (place < slice.edges)
            slice.y[slice.edge(place)] = to_element<T>(weight<T>(r_edge, max) * scale);
#pragma unroll
        for (int k = 0; k < kVectors; ++k) {
            const int v = place + k * kGroup;
            if (v >= slice.vectors) break;
            T* const g_y = slice.y + slice.first(v);
            float r_values[kPerVector<T>] = {};
            // TODO(learner): the vector's weights, times scale, in r_values (about 4
            // lines)
            if (slice.aligned) {
                Vector<T>::pack(r_values).store(g_y);
            } else {
#pragma unroll
                for (int i = 0; i < kPerVector<T>; ++i)
                    g_y[i] = to_element<T>(r_values[i]);
            }
        }
    }
};
// #endregion v4-part

// #region v4-kernel
/// Threads that share a row, and how many elements of it each of them may hold.
template <int kThreadsOfRow, int kElementsOfThread>
struct Group {
    static constexpr int kThreads = kThreadsOfRow;
    static constexpr int kColumns = kThreadsOfRow * kElementsOfThread;
    static constexpr bool kIsWarp = kThreads == wb::kWarpSize;
    static constexpr int kBlock = kIsWarp ? 128 : kThreads;

    /// Vectors of a thread.
    template <class T>
    static constexpr int kVectors =
        (kElementsOfThread + kPerVector<T> - 1) / kPerVector<T>;
    /// Rows of a warp: 64 bytes of each thread are under way, whatever the columns are.
    template <class T>
    static constexpr int kRows = !kIsWarp || kVectors<T> > 4 ? 1 : 4 / kVectors<T>;
};

/// softmax_v4: a warp has some neighbouring rows, all of them loaded before the first
/// one is used; or a block has one row.
///
/// @tparam G  the Group of a row
///
/// Launch   grid ceil_div(rows, rows of a block), block G::kBlock
/// Traffic  reads each element once, writes it once
template <class T, class G>
__global__ void __launch_bounds__(G::kBlock)
    softmax_v4_kernel(const T* x,  // [rows, columns]
                      T* y,        // [rows, columns]
                      int64_t rows,
                      int64_t columns) {
    constexpr int kRows = G::template kRows<T>;
    __shared__ MaxSum s_warps[wb::kWarpSize];
    const int place = threadIdx.x % G::kThreads;
    const int group = threadIdx.x / G::kThreads;
    const int64_t first =
        (int64_t{blockIdx.x} * (G::kBlock / G::kThreads) + group) * kRows;
    const auto slice = [&](int64_t row) -> Slice<T> {
        return {x + row * columns, y + row * columns, columns};
    };
    Part<T, G::kThreads, G::template kVectors<T>> r_parts[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
        if (first + r < rows) r_parts[r].load(slice(first + r), place);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        if (first + r >= rows) break;  // all threads of the row
        MaxSum known = r_parts[r].measure();
        if constexpr (!G::kIsWarp) known = merge_warps(known, s_warps);
        r_parts[r].store(slice(first + r), place, known);
    }
}
// #endregion v4-kernel

// #region v4-launch
/// The most elements of a thread. As floats they leave half of the 64 registers that a
/// thread of a block of 1024 can have.
inline constexpr int kMostElements = 32;

/// The widest row that a block can hold.
inline constexpr int64_t kWidest = 1024 * kMostElements;

/// Where a row must be read twice: a block goes over it, and once more.
template <class T>
__global__ void __launch_bounds__(1024)
    softmax_wide_kernel(const T* x,  // [rows, columns]
                        T* y,        // [rows, columns]
                        int64_t columns) {
    __shared__ MaxSum s_warps[wb::kWarpSize];
    const T* const g_x = x + int64_t{blockIdx.x} * columns;
    T* const g_y = y + int64_t{blockIdx.x} * columns;
    constexpr int64_t kPiece = 1024 * kPerVector<T>;
    MaxSum known;
    for (int64_t first = 0; first < columns; first += kPiece) {
        Part<T, 1024, 1> r_part;
        const int64_t count = min(kPiece, columns - first);
        r_part.load({g_x + first, g_y + first, count}, threadIdx.x);
        const MaxSum piece = r_part.measure();
        const float max = fmaxf(known.max, piece.max);
        known.sum = known.sum * wb::softmax_rescale(known.max, max) +
                    piece.sum * wb::softmax_rescale(piece.max, max);
        known.max = max;
    }
    known = merge_warps(known, s_warps);
    for (int64_t first = 0; first < columns; first += kPiece) {
        Part<T, 1024, 1> r_part;
        const Slice<T> slice(g_x + first, g_y + first, min(kPiece, columns - first));
        r_part.load(slice, threadIdx.x);
        r_part.store(slice, threadIdx.x, known);
    }
}

template <class T, class G>
static bool launch_group(
    const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    constexpr int kRowsOfBlock = G::kBlock / G::kThreads * G::template kRows<T>;
    softmax_v4_kernel<T, G>
        <<<count_blocks(rows, kRowsOfBlock), G::kBlock, 0, s>>>(x, y, rows, columns);
    CUDA_CHECK_LAUNCH();
    return true;
}

/// Launches the first group that can hold a row; false if there is none.
template <class T, class... Gs>
static bool launch_first(
    const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    return ((columns <= Gs::kColumns && launch_group<T, Gs>(x, y, rows, columns, s)) ||
            ...);
}

/// Up to 1024 columns a warp has a row, and no other warp waits for it.
template <class T>
static void launch_v4(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    const bool launched =
        launch_first<T,
                     Group<32, 4>,
                     Group<32, 8>,
                     Group<32, 16>,
                     Group<32, kMostElements>,
                     Group<128, 16>,
                     Group<256, 16>,
                     Group<256, kMostElements>,
                     Group<512, kMostElements>,
                     Group<1024, kMostElements>>(x, y, rows, columns, s);
    if (launched) return;
    softmax_wide_kernel<<<count_blocks(rows, 1), 1024, 0, s>>>(x, y, columns);
    CUDA_CHECK_LAUNCH();
}

static void softmax_v4(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v4(x, y, rows, columns, s);
}
static void softmax_bf16_v4(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v4(x, y, rows, columns, s);
}
// #endregion v4-launch

// #region contract
void softmax(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!check_softmax("softmax", x, y, rows, columns, sizeof *x)) return;
    softmax_v4(x, y, rows, columns, stream);
}

void softmax_bf16(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!check_softmax("softmax_bf16", x, y, rows, columns, sizeof *x)) return;
    softmax_bf16_v4(x, y, rows, columns, stream);
}
// #endregion contract
