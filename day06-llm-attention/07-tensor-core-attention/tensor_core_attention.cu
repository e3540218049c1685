// tensor_core_attention.cu: both products of attention, 16x16x16 numbers at a time.
#include "tensor_core_attention.h"

#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/ladder.h>
#include <wb/ptx/ldmatrix.h>

#include <cstdint>

#include "checks.h"
#include "tiles.h"
#include "wmma_tiles.h"

// #region v1-kernel
/// tensor_core_attention_v1: a warp owns 16 rows of q. Scores, weights and the output
/// lie in shared memory, between one WMMA product and the next.
///
/// Launch   grid B * Hq * tiles, block kThreads, sizeof(SharedV1) bytes
template <class T, int D>
__global__ void __launch_bounds__(kThreads) attention_v1_kernel(const Problem<T> p) {
    using E = Factor<T>;
    extern __shared__ uint4 s_bytes[];
    auto& s = *reinterpret_cast<SharedV1<E, D>*>(s_bytes);
    const BlockWork<T, D> work(p, BM);
    const int lane = threadIdx.x % wb::kWarpSize;
    const int first = threadIdx.x / wb::kWarpSize * kTile;  // row of the warp
    const int row = first + lane / 2;                       // row of this lane
    copy_rows<T, D, PaddedRows<D>, BM>(
        reinterpret_cast<char*>(s.q), work.q, p.queries - work.first_row);
    for (int d = lane % 2; d < D; d += 2)
        s.o[row][d] = 0.0f;
    RowState state;

    // TODO(learner): go over the work.keys keys that the block needs, BN_V1 at a
    // time. Copy the tiles of k and v as the one of q above, to s.k and s.v, with the
    // barriers that this needs. Then, a warp for its own 16 rows:
    //   s.scores = s.q * s.k^T, a tile of 16 keys after the other;
    //   softmax_v1(s, state, row, how many keys of this tile the row sees, p.scale),
    //   where work.visible(p, row) says how many it sees of all;
    //   s.o += s.weights * s.v, a tile of 16 columns after the other.
    // FragmentA, FragmentB and FragmentC are the types; nvcuda::wmma has the functions
    // fill_fragment, load_matrix_sync, mma_sync and store_matrix_sync (about 40 lines)
    store_v1(s, state, row, p, work);
}
// #endregion v1-kernel

// #region v2-fragments
/// Element e of the accumulator of m16n8k16, 0 <= e < 4, that a lane holds: its row in
/// the tile of 16 rows and 8 columns.
__device__ __forceinline__ int fragment_row(int lane, int e) {
    // TODO(learner): look at the picture of c in the lesson (1 line)
    return 0;
}

/// ... and its column.
__device__ __forceinline__ int fragment_column(int lane, int e) {
    // TODO(learner): the same picture (1 line)
    return 0;
}

/// The address that a lane passes to ldmatrix, so that the four matrices are the upper
/// left, lower left, upper right and lower right quarter of a 16x16 block: lane 8 m + i
/// names row i of matrix m.
///
/// @param s_tile  rows of D numbers
/// @param row     the block's first row in the tile
/// @param step    its columns are 16 step .. 16 step + 15, which are two chunks
template <class Rows>
__device__ __forceinline__ const char* quarter_row(const char* s_tile,
                                                   int row,
                                                   int step,
                                                   int lane) {
    // TODO(learner): which row and which chunk of the tile is this lane's? Rows::offset
    // says where that is (1 line)
    return s_tile;
}

/// Two accumulators side by side, 16x16 weights, as the first factor of a product.
template <class T>
__device__ __forceinline__ void as_factor(uint32_t (&a)[4],
                                          const float (&left)[4],
                                          const float (&right)[4]) {
    // TODO(learner): a lane holds the numbers that it needs already; only round them to
    // T, two a register, with wb::ptx::pack<T>(low, high) (4 lines)
}

/// Scores of 16 rows of q and BN keys: s = q k^T.
template <class T, int D, class Rows>
__device__ __forceinline__ void score_keys(float (&r_s)[BN / 8][4],
                                           const char* s_q,  // the warp's 16 rows
                                           const char* s_k,  // [BN] rows
                                           int lane) {
#pragma unroll
    for (auto& tile : r_s)
        for (float& score : tile)
            score = 0.0f;
#pragma unroll
    for (int step = 0; step < D / kTile; ++step) {
        uint32_t a[4];
        wb::ptx::ldmatrix(a, quarter_row<Rows>(s_q, 0, step, lane));
#pragma unroll
        for (int n = 0; n < BN / kTile; ++n) {
            // TODO(learner): load the quarters of 16 keys, and multiply: keys 0 to 7 of
            // them make r_s[2 * n], keys 8 to 15 r_s[2 * n + 1]. A column of b is a
            // key, which is a row in memory: nothing is transposed (4 lines)
        }
    }
}

/// Adds what BN keys give to 16 rows of the output: o += weights * v.
template <class T, int D, class Rows>
__device__ __forceinline__ void add_values(float (&r_o)[D / 8][4],
                                           const float (&r_weights)[BN / 8][4],
                                           const char* s_v,  // [BN] rows
                                           int lane) {
#pragma unroll
    for (int n = 0; n < BN / kTile; ++n) {
        uint32_t a[4] = {};
        as_factor<T>(a, r_weights[2 * n], r_weights[2 * n + 1]);
#pragma unroll
        for (int step = 0; step < D / kTile; ++step) {
            // TODO(learner): the same for 16 columns of v, r_o[2 * step] and its right
            // neighbour. Here a column of b is a column in memory: ldmatrix<true>
            // transposes each quarter (4 lines)
        }
    }
}
// #endregion v2-fragments

#include "parts.h"

// #region v2-parts
// Each of these functions is graded by itself; parts.h has the kernels.
static void run_fragment_places(int2* places, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line: fragment_row, fragment_column
    fragment_places_kernel<<<1, wb::kWarpSize, 0, stream>>>(places);
    CUDA_CHECK_LAUNCH();
}
static void run_as_factor(const float* left,
                          const float* right,
                          uint32_t* a,
                          cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when as_factor is written
    as_factor_kernel<<<1, wb::kWarpSize, 0, stream>>>(left, right, a);
    CUDA_CHECK_LAUNCH();
}
static void run_score_keys(const __half* q,
                           const __half* k,
                           float* s,
                           cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line: quarter_row, score_keys
    score_keys_kernel<<<1, wb::kWarpSize, 0, stream>>>(q, k, s);
    CUDA_CHECK_LAUNCH();
}
static void run_add_values(const float* weights,
                           const __half* v,
                           float* o,
                           cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when add_values is written
    add_values_kernel<<<1, wb::kWarpSize, 0, stream>>>(weights, v, o);
    CUDA_CHECK_LAUNCH();
}
[[maybe_unused]] static const bool parts_listed =
    wb::list_part("fragment_places", run_fragment_places) &&
    wb::list_part("as_factor", run_as_factor) &&
    wb::list_part("score_keys", run_score_keys) &&
    wb::list_part("add_values", run_add_values);
// #endregion v2-parts

// #region v2-kernel
/// tensor_core_attention_v2: a warp owns 16 rows of q; their scores, weights and output
/// never leave its registers.
///
/// Launch   grid B * Hq * tiles, block kThreads, kBytesV2 bytes
/// @tparam Rows  how rows lie in shared memory; v3 changes nothing but that
template <class T, int D, class Rows>
__global__ void __launch_bounds__(kThreads) attention_v2_kernel(const Problem<T> p) {
    extern __shared__ uint4 s_bytes[];
    char* const s_q = reinterpret_cast<char*>(s_bytes);
    char* const s_k = s_q + BM * Rows::kBytes;
    char* const s_v = s_k + BN * Rows::kBytes;
    const BlockWork<T, D> work(p, BM);
    const int lane = threadIdx.x % wb::kWarpSize;
    const int row = threadIdx.x / wb::kWarpSize * kTile;  // of the warp
    const int visible[2] = {work.visible(p, row + fragment_row(lane, 0)),
                            work.visible(p, row + fragment_row(lane, 2))};
    copy_rows<T, D, Rows, BM>(s_q, work.q, p.queries - work.first_row);
    float r_o[D / 8][4] = {};
    Softmax softmax;
    for (int key = 0; key < work.keys; key += BN) {
        __syncthreads();  // everybody is done with the tiles before
        const int64_t begin = int64_t{key} * D;
        copy_rows<T, D, Rows, BN>(s_k, work.k + begin, work.keys - key);
        copy_rows<T, D, Rows, BN>(s_v, work.v + begin, work.keys - key);
        __syncthreads();
        float r_s[BN / 8][4];
        score_keys<T, D, Rows>(r_s, s_q + row * Rows::kBytes, s_k, lane);
        softmax.step(
            r_s, r_o, p.scale * static_cast<float>(wb::kLog2e), visible, key, lane);
        add_values<T, D, Rows>(r_o, r_s, s_v, lane);
    }
    store_rows<T, D>(r_o, softmax, p, work, row, lane);
}
// #endregion v2-kernel

/// Shared memory of a block of v2: its rows of q, a tile of k and one of v.
template <int D>
constexpr size_t kBytesV2 = (BM + 2 * BN) * PlainRows<D>::kBytes;

// #region launch
template <class T>
static void attention_v1(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the loop of v1 is written
    const auto problem = problem_of(shape, q, k, v, o, lse, BM);
    wb::with_head_dim<64, 128>(shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        launch_blocks(attention_v1_kernel<T, D>,
                      problem,
                      shape,
                      kThreads,
                      sizeof(SharedV1<T, D>),
                      stream);
    });
}

template <class T>
static void attention_v2(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs of v2 are done
    const auto problem = problem_of(shape, q, k, v, o, lse, BM);
    wb::with_head_dim<64, 128>(shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        launch_blocks(attention_v2_kernel<T, D, PlainRows<D>>,
                      problem,
                      shape,
                      kThreads,
                      kBytesV2<D>,
                      stream);
    });
}
// #endregion launch

// So that tests and benchmarks find both.
[[maybe_unused]] static const bool versions_listed =
    wb::list_version("tensor_core_attention",
                     "v1",
                     attention_v1<__half>,
                     attention_v1<__nv_bfloat16>) &&
    wb::list_version("tensor_core_attention",
                     "v2",
                     attention_v2<__half>,
                     attention_v2<__nv_bfloat16>);

// #region contract
/// Both functions of the contract.
template <class T>
static void checked_attention(const wb::AttentionShape& shape,
                              const T* q,
                              const T* k,
                              const T* v,
                              T* o,
                              float* lse,
                              cudaStream_t stream) {
    if (!attention_has_work(shape, q, k, v, o, lse)) return;
    attention_v2(shape, q, k, v, o, lse, stream);
}

void tensor_core_attention(const wb::AttentionShape& shape,
                           const __half* q,
                           const __half* k,
                           const __half* v,
                           __half* o,
                           float* lse,
                           cudaStream_t stream) {
    checked_attention(shape, q, k, v, o, lse, stream);
}

void tensor_core_attention(const wb::AttentionShape& shape,
                           const __nv_bfloat16* q,
                           const __nv_bfloat16* k,
                           const __nv_bfloat16* v,
                           __nv_bfloat16* o,
                           float* lse,
                           cudaStream_t stream) {
    checked_attention(shape, q, k, v, o, lse, stream);
}
// #endregion contract
