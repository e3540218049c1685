// The right tensor_core_attention that the .diff files edit.
#include "tensor_core_attention.h"

#include <wb/arguments.h>
#include <wb/errors.h>
#include <wb/head_dim.h>
#include <wb/ptx/cp_async.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/ldmatrix.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tiles.h"

constexpr float kLog2e = static_cast<float>(wb::kLog2e);

// tiles.h asks for these two.
__device__ __forceinline__ int fragment_row(int lane, int e) {
    return lane / 4 + e / 2 * 8;
}
__device__ __forceinline__ int fragment_column(int lane, int e) {
    return lane % 4 * 2 + e % 2;
}

template <class T, int D>
__device__ void start_rows(char* s_tile, const T* g, int rows, int count) {
    for (int e = threadIdx.x; e < count * D / kChunk; e += kThreads) {
        const int row = e / (D / kChunk);
        const int chunk = e % (D / kChunk);
        const bool exists = row < rows;
        wb::ptx::cp_async_zfill<16>(s_tile + row * D * 2 + (chunk ^ row % 8) * 16,
                                    exists ? g + row * D + chunk * kChunk : g,
                                    exists ? 16 : 0);
    }
}

template <class T, int D>
__global__ void __launch_bounds__(kThreads)
    attention_kernel(const Problem<T> p, int64_t kv_heads) {
    constexpr int kStage = 2 * BN * D * 2;
    extern __shared__ uint4 s_bytes[];
    char* const s_q = reinterpret_cast<char*>(s_bytes);
    char* const s_stages = s_q + BM * D * 2;
    BlockWork<T, D> work(p, BM);
    const int64_t kv_head = blockIdx.x / p.tiles / p.group;
    work.k = p.k + kv_head * p.keys * D;
    work.v = p.v + kv_head * p.keys * D;
    const int lane = threadIdx.x % wb::kWarpSize;
    const int row = threadIdx.x / wb::kWarpSize * kTile;
    const int visible[2] = {work.visible(p, row + lane / 4),
                            work.visible(p, row + lane / 4 + 8)};
    const int masked_from = work.visible(p, row) / BN;  // the first such tile
    const int tiles = tiles_of(work.keys, BN);
    const auto block = [&](const char* s_tile, int first, int step) {
        const int r = first + lane % 16;
        return s_tile + r * D * 2 + ((2 * step + lane / 16) ^ r % 8) * 16;
    };
    const auto start_tile = [&](int j) {
        if (j < tiles) {
            char* const s_k = s_stages + j % 2 * kStage;
            const int64_t begin = int64_t{j} * BN * D;
            const int left = work.keys - j * BN;
            start_rows<T, D>(s_k, work.k + begin, left, BN);
            start_rows<T, D>(s_k + kStage / 2, work.v + begin, left, BN);
        }
        wb::ptx::cp_async_commit();
    };
    start_rows<T, D>(s_q, work.q, p.queries - work.first_row, BM);
    start_tile(0);
    float r_o[D / 8][4] = {};
    float max[2] = {-INFINITY, -INFINITY};
    float sum[2] = {};
    for (int j = 0; j < tiles; ++j) {
        wb::ptx::cp_async_wait<0>();  // the next tile is not started yet
        __syncthreads();
        start_tile(j + 1);
        const char* const s_k = s_stages + j % 2 * kStage;
        const char* const s_v = s_stages + j % 2 * kStage + kStage / 2;
        float r_s[BN / 8][4] = {};
        for (int step = 0; step < D / kTile; ++step) {
            uint32_t a[4];
            wb::ptx::ldmatrix(a, block(s_q, row, step));
            for (int n = 0; n < BN / kTile; ++n) {
                uint32_t b[4];
                wb::ptx::ldmatrix(b, block(s_k, n * kTile, step));
                multiply<T>(r_s[2 * n], a, b[0], b[2]);
                multiply<T>(r_s[2 * n + 1], a, b[1], b[3]);
            }
        }
        float base[2];
        for (int h = 0; h < 2; ++h) {
            float new_max = max[h];
            for (int n = 0; n < BN / 8; ++n) {
                for (int e = 2 * h; e < 2 * h + 2; ++e) {
                    const int key = j * BN + n * 8 + lane % 4 * 2 + e % 2;
                    const bool hidden = j >= masked_from && key >= visible[h];
                    const float x = r_s[n][e] * p.scale * kLog2e;
                    r_s[n][e] = hidden ? -INFINITY : x;
                    new_max = fmaxf(new_max, r_s[n][e]);
                }
            }
            new_max = fmaxf(new_max, __shfl_xor_sync(wb::kAllLanes, new_max, 1));
            new_max = fmaxf(new_max, __shfl_xor_sync(wb::kAllLanes, new_max, 2));
            base[h] = new_max == -INFINITY ? 0.0f : new_max;
            const float factor = wb::ptx::exp2_approx(max[h] - base[h]);
            max[h] = new_max;
            sum[h] *= factor;
            for (auto& part : r_o) {
                part[2 * h] *= factor;
                part[2 * h + 1] *= factor;
            }
        }
        for (int n = 0; n < BN / kTile; ++n) {
            uint32_t a[4];
            for (int i = 0; i < 4; ++i) {  // quarters: left or right, upper or lower
                const int h = i % 2;
                float weight[2];
                for (int e = 0; e < 2; ++e) {
                    const float exact =
                        wb::ptx::exp2_approx(r_s[2 * n + i / 2][2 * h + e] - base[h]);
                    sum[h] += exact;
                    weight[e] = exact;
                }
                a[i] = wb::ptx::pack<T>(weight[0], weight[1]);
            }
            for (int step = 0; step < D / kTile; ++step) {
                uint32_t b[4];
                wb::ptx::ldmatrix<true>(b, block(s_v, n * kTile, step));
                multiply<T>(r_o[2 * step], a, b[0], b[1]);
                multiply<T>(r_o[2 * step + 1], a, b[2], b[3]);
            }
        }
    }
    wb::ptx::cp_async_wait<0>();
    for (int h = 0; h < 2; ++h) {
        sum[h] += __shfl_xor_sync(wb::kAllLanes, sum[h], 1);
        sum[h] += __shfl_xor_sync(wb::kAllLanes, sum[h], 2);
        const int mine = row + lane / 4 + 8 * h;
        if (work.first_row + mine >= p.queries) continue;
        const float inverse = sum[h] > 0.0f ? 1.0f / sum[h] : 0.0f;
        for (int c = 0; c < D / 8; ++c) {
            T* const o = p.o + (work.g_row + mine) * D + c * 8 + lane % 4 * 2;
            o[0] = static_cast<T>(r_o[c][2 * h] * inverse);
            o[1] = static_cast<T>(r_o[c][2 * h + 1] * inverse);
        }
        if (p.lse != nullptr && lane % 4 == 0)
            p.lse[work.g_row + mine] = (max[h] + log2f(sum[h])) / kLog2e;
    }
}

/// Wrong kernels are compiled for D = 64 only, which is what the test cases that reject
/// them have.
template <class Launch>
void with_dim(int64_t head_dim, Launch launch) {
#ifdef WB_RIGHT_TEXT
    wb::with_head_dim<64, 128>(head_dim, launch);
#else
    if (head_dim != 64) throw wb::NotSolved("this mutant has D = 64 only");
    launch(std::integral_constant<int, 64>());
#endif
}

/// Both functions of the contract.
template <class T>
void attend(const wb::AttentionShape& shape,
            const T* q,
            const T* k,
            const T* v,
            T* o,
            float* lse,
            cudaStream_t stream) {
    const wb::Arguments arguments("tensor_core_attention");
    const int major = wb::device_attribute(cudaDevAttrComputeCapabilityMajor);
    arguments.require(
        major >= 8, "the GPU's compute capability", major, "must be 8 or more");
    wb::check_shape(arguments, shape, {64, 128});
    if (shape.rows() == 0) return;
    const auto vectors = [](const T* p) { return reinterpret_cast<const uint4*>(p); };
    arguments.device("q", vectors(q), shape.query_elements() / kChunk)
        .device("k", vectors(k), shape.kv_elements() / kChunk)
        .device("v", vectors(v), shape.kv_elements() / kChunk)
        .device("o", vectors(o), shape.query_elements() / kChunk);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    const auto problem = problem_of(shape, q, k, v, o, lse, BM);
    with_dim(shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        const auto kernel = attention_kernel<T, D>;
        constexpr size_t kBytes = (BM + 4 * BN) * D * 2;
        CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(kBytes)));
        const unsigned blocks =
            wb::grid_size(shape.batch * shape.query_heads * problem.tiles, 1);
        kernel<<<blocks, kThreads, kBytes, stream>>>(problem, shape.kv_heads);
        CUDA_CHECK_LAUNCH();
    });
}

void tensor_core_attention(const wb::AttentionShape& shape,
                           const __half* q,
                           const __half* k,
                           const __half* v,
                           __half* o,
                           float* lse,
                           cudaStream_t stream) {
    attend(shape, q, k, v, o, lse, stream);
}

void tensor_core_attention(const wb::AttentionShape& shape,
                           const __nv_bfloat16* q,
                           const __nv_bfloat16* k,
                           const __nv_bfloat16* v,
                           __nv_bfloat16* o,
                           float* lse,
                           cudaStream_t stream) {
    attend(shape, q, k, v, o, lse, stream);
}
