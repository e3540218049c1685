// 07_launch.cuh: v7: how x is brought into order, and how many blocks multiply.
#pragma once

#include "07_wgmma.cuh"

// #region v7-launch
/// x in wgmma's order, in memory of its own.
class OrderedX {
 public:
    OrderedX(const GptqShape& s,
             const GptqTensors& t,
             const uint4* packed,
             const __half* x,
             cudaStream_t stream)
        : w_(Packed::of(s, t.g_idx != nullptr, packed)),
          M_(s.M),
          ld_(int64_t{w_.tiles_down} * kTileRows),
          ordered_(s.M * ld_, stream) {
        order_columns_kernel<<<wb::grid_size(s.M * ld_ / 8, kThreadsRepack),
                               kThreadsRepack,
                               0,
                               stream>>>(
            x, w_.rows, reinterpret_cast<uint4*>(ordered_.data()), s.M, s.K, ld_);
        CUDA_CHECK_LAUNCH();
    }

    const Packed& w() const { return w_; }

    /// What a kernel with these sizes is told of x and of W.
    template <class S>
    WideMaps maps() const {
        constexpr int64_t kRow = wb::ptx::kSwizzleBytes;
        constexpr int kHalves = wb::ptx::kSwizzleBytes / 2;  // of a row
        const auto map_of = [](const char* name,
                               const void* base,
                               const int64_t(&sizes)[3],
                               const int64_t(&strides)[2],
                               int rows,
                               int columns) {
            return wb::ptx::make_tensor_map(
                name,
                {.base = base,
                 .element_bytes = 2,
                 .sizes = {sizes[0], sizes[1], sizes[2], 1},
                 .strides = {strides[0], strides[1], strides[1]},
                 .box = {kHalves, rows, columns, 1},
                 .l2_bytes = 128});
        };
        const int64_t down = int64_t{w_.tiles_down} * S::kTileRowsOf128;
        return {map_of("x",
                       ordered_.data(),
                       {ld_, M_, 1},
                       {2 * ld_, 2 * ld_},
                       S::BM / S::kShare,
                       1),
                map_of("packed",
                       w_.weights,
                       {kHalves, down, w_.tiles_across},
                       {kRow, down * kRow},
                       S::KT * S::kTileRowsOf128,
                       S::kTilesN),
                map_of("packed",
                       w_.factors,
                       {kHalves, w_.groups, w_.tiles_across},
                       {kRow, w_.groups * kRow},
                       1,
                       S::kTilesN)};
    }

 private:
    Packed w_;
    int64_t M_;
    int64_t ld_;
    wb::Scratch<__half> ordered_;
};

/// Launches the kernel so that it may start before the one that orders x has ended.
///
/// @param cluster  blocks
template <class S, bool kInParts>
void launch_v7(const GptqShape& shape,
               const OrderedX& x,
               __half* y,
               int64_t clusters,
               int cluster,
               cudaStream_t stream) {
    constexpr size_t kBytes = sizeof(WideShared<S>) + 1024;
    const auto kernel = gptq_v7_kernel<S, kInParts>;
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kBytes)));
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = static_cast<unsigned>(cluster);
    attributes[0].val.clusterDim.y = 1;
    attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(wb::grid_size(clusters * cluster, 1));
    config.blockDim = dim3(S::kThreads);
    config.dynamicSmemBytes = kBytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 2;
    const WideProblem p = {x.w(),
                           y,
                           shape.M,
                           shape.N,
                           wb::ceil_div(shape.M, int64_t{S::BM}),
                           wb::ceil_div(shape.N, int64_t{S::BN} * S::kShare)};
    CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, x.template maps<S>(), p));
}

/// How the rows of W of a tile of y are shared among the blocks of a cluster.
struct WideParts {
    int parts;
    int64_t cost;  ///< columns times stages that the busiest multiprocessor has

    /// @param tiles    of y, of columns each
    /// @param stages   of W
    static WideParts best(int64_t tiles, int64_t columns, int64_t stages) {
        constexpr int kMostParts = 8;  // that every GPU with clusters can have
        WideParts best = {1, 0};
        for (int parts = 1; parts <= kMostParts && parts <= stages; ++parts) {
            const int64_t rounds =
                wb::ceil_div(tiles * parts, int64_t{wb::multiprocessors()});
            const int64_t cost =
                rounds * columns * wb::ceil_div(stages, int64_t{parts});
            if (parts == 1 || cost < best.cost) best = {parts, cost};
        }
        return best;
    }
};

template <class S>
void launch_in_clusters(const GptqShape& shape,
                        const OrderedX& x,
                        __half* y,
                        const WideParts& parts,
                        cudaStream_t stream) {
    const int64_t tiles =
        wb::ceil_div(shape.M, int64_t{S::BM}) * wb::ceil_div(shape.N, int64_t{S::BN});
    launch_v7<S, true>(shape, x, y, tiles, parts.parts, stream);
}

/// Few rows of x: as many columns a block, and parts, as give all multiprocessors the
/// same.
template <int BM, int kStages3, int kStages2>
void launch_few_rows(const GptqShape& shape,
                     const OrderedX& x,
                     __half* y,
                     cudaStream_t stream) {
    const int64_t down = wb::ceil_div(shape.M, int64_t{BM});
    const int64_t stages = wb::ceil_div(x.w().tiles_down, 2);
    const auto parts_of = [&](int64_t columns) {
        return WideParts::best(down * wb::ceil_div(shape.N, columns), columns, stages);
    };
    const WideParts of192 = parts_of(192);
    const WideParts of128 = parts_of(128);
    if (of192.cost <= of128.cost)
        launch_in_clusters<WideSizes<BM, 3, kStages3, 1>>(shape, x, y, of192, stream);
    else
        launch_in_clusters<WideSizes<BM, 2, kStages2, 1>>(shape, x, y, of128, stream);
}

/// At most 16 rows of x: v5's kernel. A warp has more of W under way here than in v5;
/// with more than 8 rows, where blocks of 96 columns give nearly all multiprocessors
/// one, they read x a third as often.
static void launch_ring(const GptqShape& shape,
                        const GptqTensors& tensors,
                        const uint4* packed,
                        const __half* x,
                        __half* y,
                        cudaStream_t stream) {
    const SortedX sorted(shape, tensors, packed, x, stream);
    const Problem p = sorted.problem(shape);
    const int64_t blocks_of_96 = wb::ceil_div(shape.N, int64_t{96});
    const int64_t room = wb::multiprocessors();
    if (shape.M <= 8)
        launch_in_parts<Sizes<1, 1, 1, 1, 4, 4, 3, 3>>(p, y, stream);
    else if (blocks_of_96 <= room && 10 * blocks_of_96 >= 9 * room)
        launch_in_parts<Sizes<2, 3, 1, 1, 16, 1, 3, 1>>(p, y, stream);
    else
        launch_in_parts<Sizes<2, 2, 1, 1, 8, 2, 3, 2>>(p, y, stream);
}

/// A GPU with one multiprocessor has none for the second block of a cluster.
inline constexpr int kFewestMultiprocessors = 2;

/// v7: on Hopper; elsewhere it is v6.
static void gptq_matmul_v7(const GptqShape& shape,
                           const GptqTensors& tensors,
                           const uint4* packed,
                           const __half* x,
                           __half* y,
                           cudaStream_t stream) {
    if (wb::compute_capability() != 90 ||
        wb::multiprocessors() < kFewestMultiprocessors)
        return gptq_matmul_v6(shape, tensors, packed, x, y, stream);
    if (shape.M <= 16) return launch_ring(shape, tensors, packed, x, y, stream);
    const OrderedX ordered(shape, tensors, packed, x, stream);
    if (shape.M <= 64) return launch_few_rows<64, 10, 12>(shape, ordered, y, stream);
    if (shape.M <= 128) return launch_few_rows<128, 8, 8>(shape, ordered, y, stream);
    using Many = WideSizes<256, 2, 5, 2>;
    const int64_t clusters = wb::ceil_div(shape.M, int64_t{Many::BM}) *
                             wb::ceil_div(shape.N, int64_t{Many::BN} * Many::kShare);
    const int64_t room = std::max(wb::multiprocessors() / Many::kShare, 1);
    const int64_t rounds = wb::ceil_div(clusters, room);
    launch_v7<Many, false>(
        shape, ordered, y, wb::ceil_div(clusters, rounds), Many::kShare, stream);
}
// #endregion v7-launch
