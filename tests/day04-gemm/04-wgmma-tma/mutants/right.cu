// The right functions that the .diff files edit: a producer, two consumers, clusters of
// two blocks that share B, tile after tile, and a store by the TMA unit. Where K is
// long, parts of it, whose sums a second kernel adds.
#include "wgmma_tma.h"

#include <wb/check.h>
#include <wb/hopper_gemm/split_k.h>
#include <wb/ptx/cluster.h>

#include "tiles.h"

template <class T, class CType, LayoutB kLayoutB>
using Small = TileSizes<T,
                        CType,
                        kLayoutB,
                        Tiling{.block_rows = 128,
                               .block_columns = 128,
                               .stages = 3,
                               .consumers = 2,
                               .cluster_rows = 2,
                               .store_buffers = 2,
                               .producer_registers = 40,
                               .consumer_registers = 232}>;

template <class S>
__device__ inline void start_copies(SharedTiles<S>& shared,
                                    const TensorMaps& maps,
                                    const Place& at,
                                    int k,
                                    int stage,
                                    int rank) {
    using namespace wb::ptx;
    Mbarrier* const full = &shared.full[stage];
    tma_load(shared.a[stage], &maps.a, full, k, at.row, 0, 0);
    const unsigned both = 3;
    if constexpr (S::kRowsOfK) {
        const int depth = S::BK / 2 * rank;
        for (int panel = 0; panel < S::kPanels; ++panel) {
            const int row = panel * S::BK + depth;
            tma_load_multicast(shared.b[stage] + row * kSwizzleBytes,
                               &maps.b,
                               full,
                               at.col + panel * S::kPanel,
                               k + depth,
                               0,
                               0,
                               both);
        }
    } else {
        const int column = S::BN / 2 * rank;
        tma_load_multicast(shared.b[stage] + column * kSwizzleBytes,
                           &maps.b,
                           full,
                           k,
                           at.col + column,
                           0,
                           0,
                           both);
    }
}

template <class S>
__device__ inline void multiply(SharedTiles<S>& shared,
                                int steps,
                                int group,
                                Sums<S>& sums,
                                wb::ptx::PipelineState<S::kStages>& ring) {
    using namespace wb::ptx;
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    int before = 0;
    for (int step = 0; step < steps; ++step) {
        mbarrier_wait(&shared.full[ring.stage], ring.parity);
        const Operands<S> operands(shared, ring.stage, group * S::kGroupRows);
        wgmma_fence();
        for (int part = 0; part < Operands<S>::kSteps; ++part) {
            const bool adds = step > 0 || part > 0;
            wgmma<typename S::T, S::kRowsOfK>(
                sums.d[0], operands.a(0, part), operands.b(part), adds);
        }
        wgmma_commit();
        wgmma_wait<1>();
        if (step > 0 && thread < 2) mbarrier_arrive_at(&shared.empty[before], thread);
        before = ring.stage;
        ring.advance();
    }
    wgmma_wait<0>();
    wgmma_keep(sums.d[0]);
    if (thread < 2) mbarrier_arrive_at(&shared.empty[before], thread);
}

template <class S, class Epilogue>
__device__ inline void store(SharedTiles<S>& shared,
                             const TensorMaps& maps,
                             const Problem& p,
                             const typename Epilogue::Params& params,
                             const Place& at,
                             int group,
                             const Sums<S>& sums,
                             int& buffer) {
    using namespace wb::ptx;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize % 4;
    const int first = at.row + group * S::kGroupRows + warp * 16;
    Epilogue epilogue(params, p, first + lane / 4);
    for (int panel = 0; panel < S::kPanels; ++panel) {
        unsigned char* const s_panel = shared.c[group * 4 + warp][buffer];
        if (lane == 0) tma_store_wait_read<1>();
        __syncwarp();
        const int col = at.col + panel * S::kPanel;
        for (int j = 0; j < 4; ++j) {
            uint32_t r[4];
            for (int half = 0; half < 2; ++half) {
                const int from = panel * 32 + j * 8 + half * 4;
                float x[4];
                for (int e = 0; e < 4; ++e)
                    x[e] = sums.d[0][from + e];
                epilogue.apply(x, col + j * 16 + half * 8 + lane % 4 * 2);
                r[2 * half] = pack<typename S::CType>(x[0], x[1]);
                r[2 * half + 1] = pack<typename S::CType>(x[2], x[3]);
            }
            const int byte = j * 32 + lane / 16 * 16;
            stmatrix(s_panel + swizzle_128b(lane % 16, byte), r);
        }
        async_proxy_fence();
        __syncwarp();
        if (lane == 0) {
            if (first < p.M && col < p.N) tma_store(&maps.c, s_panel, col, first, 0, 0);
            tma_store_commit();
        }
        buffer = 1 - buffer;
    }
}

/// How K is cut. With one part, C is stored at once.
struct Cut {
    int parts;
    int steps;  // of each part; the last may have fewer
};

template <class S, class Epilogue>
__global__ void __launch_bounds__(S::kThreads, 1)
    product_kernel(const __grid_constant__ TensorMaps maps,
                   const __grid_constant__ Problem p,
                   const __grid_constant__ typename Epilogue::Params params,
                   const Cut cut,
                   float* g_parts) {  // [parts, M, N]
    using namespace wb::ptx;
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<S>& shared = wb::hopper_gemm::shared_tiles<S>(s_dynamic);
    if (threadIdx.x == 0) {
        for (int i = 0; i < S::kStages; ++i) {
            mbarrier_init(&shared.full[i], 1);
            mbarrier_init(&shared.empty[i], 4);
        }
        mbarrier_init_fence();
    }
    cluster_sync();
    const int rank = static_cast<int>(cluster_rank());
    const int group = wb::hopper_gemm::consumer_group();
    PipelineState<S::kStages> ring;
    const int clusters = static_cast<int>(gridDim.x) / 2;
    int buffer = 0;
    if (group < 0)
        registers_give_back<S::kProducerRegisters>();
    else
        registers_take<S::kConsumerRegisters>();
    const int tiles = p.down * p.across;
    for (int work = static_cast<int>(blockIdx.x) / 2; work < tiles * cut.parts;
         work += clusters) {
        const int tile = work % tiles;
        const int part = work / tiles;
        const int begin = part * cut.steps;
        const int end = min(begin + cut.steps, p.steps);
        const Place at = {(tile / p.across * 2 + rank) * S::BM,
                          tile % p.across * S::BN};
        if (group >= 0) {
            Sums<S> sums;
            multiply(shared, end - begin, group, sums, ring);
            float* const g_part = g_parts + int64_t{part} * p.M * p.N;
            if (cut.parts > 1)
                wb::hopper_gemm::store_part<S>(p, g_part, at, group, sums);
            else
                store<S, Epilogue>(shared, maps, p, params, at, group, sums, buffer);
        } else if (threadIdx.x == 0) {
            for (int step = begin; step < end; ++step) {
                mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
                mbarrier_expect(&shared.full[ring.stage], S::kABytes + S::kBBytes);
                start_copies(shared, maps, at, step * S::BK, ring.stage, rank);
                ring.advance();
            }
        }
    }
    if (group >= 0 && threadIdx.x % wb::kWarpSize == 0) tma_store_wait_read<0>();
    __syncwarp();
    cluster_sync();
}

constexpr int kThreadsTotal = 256;

/// A thread adds what all parts have of two neighbours of a row.
template <class CType, class Epilogue>
__global__ void add_parts_kernel(const Problem p,
                                 const float* g_parts,
                                 int parts,
                                 const typename Epilogue::Params params) {
    const int64_t i = int64_t{blockIdx.x} * kThreadsTotal + threadIdx.x;
    const int64_t row = i / (p.N / 2);
    const int64_t of_part = int64_t{p.M} * p.N;
    if (row >= p.M) return;
    float x[4] = {};
    for (int part = 0; part < parts; ++part) {
        x[0] += g_parts[part * of_part + 2 * i];
        x[1] += g_parts[part * of_part + 2 * i + 1];
    }
    const int col = static_cast<int>(i % (p.N / 2)) * 2;
    const Epilogue epilogue(params, p, static_cast<int>(row));
    epilogue.apply(x, col);
    CType* const g_c = static_cast<CType*>(p.C) + row * p.ldc + col;
    *reinterpret_cast<uint32_t*>(g_c) = wb::ptx::pack<CType>(x[0], x[1]);
}

template <class S, class Epilogue>
static void launch_product(const Product<typename S::T, typename S::CType>& product,
                           const typename Epilogue::Params& params) {
    const Problem problem = wb::hopper_gemm::problem_of<S>(product, 1);
    const int room = wb::multiprocessors() > 1 ? wb::multiprocessors() / 2 : 1;
    constexpr int kStepsOfPart = 5;
    Cut cut = {1, problem.steps};
    if (problem.steps > 16)
        cut = {wb::ceil_div(problem.steps, kStepsOfPart), kStepsOfPart};
    const int work = problem.down * problem.across * cut.parts;
    const wb::Scratch<float> g_parts(cut.parts * product.M * product.N, product.stream);
    wb::launch_clusters(product_kernel<S, Epilogue>,
                        static_cast<unsigned>(2 * (work < room ? work : room)),
                        S::kThreads,
                        2,
                        wb::hopper_gemm::kSharedBytes<S>,
                        product.stream,
                        wb::hopper_gemm::tensor_maps<S>(product),
                        problem,
                        params,
                        cut,
                        g_parts.data());
    if (cut.parts == 1) return;
    wb::launch_kernel(add_parts_kernel<typename S::CType, Epilogue>,
                      wb::grid_size(product.M * (product.N / 2), kThreadsTotal),
                      kThreadsTotal,
                      0,
                      product.stream,
                      problem,
                      static_cast<const float*>(g_parts.data()),
                      cut.parts,
                      params);
}

template <class T>
static void multiply_16_bits(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        launch_product<Small<T, T, layout()>, PlainEpilogue>(product, {});
    });
}

void wgmma_tma_bf16(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    __nv_bfloat16* C,
                    cudaStream_t stream) {
    if (!has_work("wgmma_tma_bf16", shape, A, B, C)) return;
    multiply_16_bits(shape, A, B, C, stream);
}

void wgmma_tma_fp16(const wb::GemmShape& shape,
                    const __half* A,
                    const __half* B,
                    __half* C,
                    cudaStream_t stream) {
    if (!has_work("wgmma_tma_fp16", shape, A, B, C)) return;
    multiply_16_bits(shape, A, B, C, stream);
}

void wgmma_tma_fp8(const wb::GemmShape& shape,
                   const __nv_fp8_e4m3* A,
                   const __nv_fp8_e4m3* B,
                   const float* scale_a,
                   const float* scale_b,
                   __nv_bfloat16* C,
                   cudaStream_t stream) {
    if (!has_work("wgmma_tma_fp8", shape, A, B, scale_a, scale_b, C)) return;
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        using S = Small<__nv_fp8_e4m3, __nv_bfloat16, layout()>;
        launch_product<S, ScaleEpilogue>(product, {scale_a, scale_b});
    });
}
