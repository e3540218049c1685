// 04_backward.cuh: v4 of the backward pass, in the skeleton of chapter 08 as the
// forward pass is: two warpgroups own 64 rows of q or 64 keys each, and multiply with
// wgmma. Included below 04_wgmma.cuh.
#pragma once

// #region backward-work
/// What the backward pass needs beside HstuTiles; there, `query_starts` and all numbers
/// of rows are those of what a block owns: rows of q, or keys.
struct HstuBackwardTiles : HstuTiles {
    wb::ptx::TensorMap own_map;  ///< of d_o, or of v: what a block owns besides
    void* dv;                    ///< where dv is summed, too
};

/// The rows that see a key: of every mask but lists of intervals, they are a span.
///
/// @param key  < tile.length
/// @return     a mask of rows in place of keys
__device__ __forceinline__ RowMask key_mask(const HstuMasks& mask,
                                            const RowTile& tile,
                                            int key) {
    RowMask rows;
    rows.end = tile.length;
    switch (mask.kind) {
        case HstuMask::causal:
            rows.begin = key;
            break;
        case HstuMask::local:
            rows.begin = key - static_cast<int>(min(mask.right, int64_t{key}));
            rows.end = key + 1 +
                       static_cast<int>(min(mask.left, int64_t{tile.length - 1 - key}));
            break;
        case HstuMask::context:
        case HstuMask::target: {
            const int32_t* const contexts = mask.contexts.device;
            const int context = contexts == nullptr ? 0 : contexts[tile.sequence];
            if (key >= context) rows.begin = key;
            // A candidate is seen by itself alone.
            if (mask.kind == HstuMask::target &&
                key >= tile.length - mask.targets.device[tile.sequence])
                rows.end = key + 1;
            break;
        }
        default:  // full
            break;
    }
    return rows;
}

/// With which others some rows of q, or some keys, make pairs, by blocks of BN.
template <bool kOfKeys, int BN>
struct Others {
    RowMask upper;  ///< of the first of them
    RowMask lower;  ///< of the last
    KeyBlocks blocks;

    __device__ __forceinline__ Others(const HstuTiles& problem,
                                      const RowTile& tile,
                                      int first,
                                      int last)
        : upper(mask(problem, tile, first)), lower(mask(problem, tile, last)) {
        if constexpr (kOfKeys) {
            // Behind the history, spans end earlier again.
            const int begin = upper.begin / BN;
            const int end = (max(upper.end, lower.end) + BN - 1) / BN;
            blocks = {end - 1, 0, end - 1, end - begin};
        } else {
            blocks = blocks_of<BN>(upper, lower, first, last);
        }
    }
    static __device__ __forceinline__ RowMask mask(const HstuTiles& problem,
                                                   const RowTile& tile,
                                                   int own) {
        if constexpr (kOfKeys) return key_mask(problem.mask, tile, own);
        return row_mask(problem.mask, tile, own);
    }
    /// All of them make pairs with all of a block.
    __device__ __forceinline__ bool is_full(int block) const {
        return block * BN >= lower.begin &&
               (block + 1) * BN <= min(upper.end, lower.end);
    }
};

template <class Sizes>
__device__ __forceinline__ auto others_of_tile(const HstuTiles& problem,
                                               const TileWork& work) {
    const int last = min(work.row + Sizes::BM, work.queries) - 1;
    return Others<Sizes::kOfKeys, Sizes::BN>(problem, rows_of(work), work.row, last);
}

/// The same as work_of() of the forward pass, for tiles of rows or of keys. Of keys the
/// first ones are seen by the most rows, with every mask but a window.
template <class Sizes>
__device__ __forceinline__ TileWork backward_work(const HstuTiles& problem,
                                                  int number) {
    TileWork work = {};
    RowTile tile;
    if (problem.row_tiles > 0) {
        const TileNumber at = tile_number(problem, number);
        const int place = Sizes::kOfKeys ? problem.row_tiles - 1 - at.tile : at.tile;
        tile.sequence = at.head / problem.query_heads;
        tile.first = place * Sizes::BM;
        tile.begin = problem.query_starts[tile.sequence];
        tile.length = problem.query_starts[tile.sequence + 1] - tile.begin;
        work.head = at.head - tile.sequence * problem.query_heads;
    } else {
        const int count = problem.tiles / problem.query_heads;
        work.head = number / count;
        tile = find_tile<Sizes::BM>(problem.query_starts,
                                    problem.sequences,
                                    count - 1 - (number - work.head * count));
    }
    work.sequence = tile.sequence;
    work.kv_head = work.head;
    work.row = tile.first;
    work.queries = work.keys = tile.length;
    work.query_start = work.key_start = tile.begin;
    // Each row sees itself: a tile that has rows has a block.
    if (work.row < work.queries)
        work.blocks = others_of_tile<Sizes>(problem, work).blocks.count;
    return work;
}
// #endregion backward-work

// #region backward-sizes
/// Sizes of a launch that makes `kOf`. Of the others, as many at a time as registers
/// and shared memory hold: two products of 64 rows with them, and the sums.
template <class T, int D, Gradient kOf_>
struct BackwardSizes
    : TileSizes<T,
                Tiling{.head_dim = D,
                       .block_rows = 128,
                       .block_keys = 64,
                       .stages = D == 256 && kOf_ != Gradient::dv ? 1 : 2,
                       .query_stages = D == 256 ? 1 : 2}> {
    static constexpr Gradient kOf = kOf_;
    static constexpr bool kOfKeys = kOf != Gradient::dq;
    static constexpr bool kHasDs = kOf != Gradient::dv;
    static constexpr bool kHasDv = kOf == Gradient::dk_dv || kOf == Gradient::dv;
    /// dk and dv of 128 columns need all that there are: with fewer, ptxas lets each
    /// product wait for the one before it.
    static constexpr bool kIsTight = D == 128 && kOf == Gradient::dk_dv;
    static constexpr int kProducerRegisters = kIsTight ? 24 : 40;
    static constexpr int kConsumerRegisters = kIsTight ? 240 : 232;
};

/// Chapter 08's tiles: q are what a block owns, k and v are the others. Besides, what a
/// block owns of d_o, or of v.
template <class Sizes>
struct alignas(1024) BackwardShared : SharedTiles<Sizes> {
    static constexpr int kBytes = Sizes::kHasDs ? Sizes::kQueryBytes : 1024;
    alignas(1024) unsigned char own[Sizes::kQueryStages][kBytes];
};

/// Has what a block owns copied: 128 rows of two arrays. By one warp.
template <class Sizes>
__device__ __forceinline__ void copy_own(BackwardShared<Sizes>& shared,
                                         const TensorMaps& maps,
                                         const HstuBackwardTiles& problem,
                                         const TileWork& work,
                                         PipelineState<Sizes::kQueryStages> ring) {
    constexpr int kArrays = Sizes::kHasDs ? 2 : 1;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    wb::ptx::Mbarrier* const full = &shared.q_full[ring.stage];
    wb::ptx::mbarrier_wait(&shared.q_empty[ring.stage], ring.parity ^ 1);
    if (lane == 0) wb::ptx::mbarrier_expect(full, kArrays * Sizes::kQueryBytes);
    __syncwarp();
    if (lane >= kArrays * Sizes::kPanels) return;
    const int panel = lane % Sizes::kPanels;
    const bool is_q = lane < Sizes::kPanels;
    wb::ptx::tma_load((is_q ? shared.q[ring.stage] : shared.own[ring.stage]) +
                          panel * Sizes::BM * wb::ptx::kSwizzleBytes,
                      is_q ? &maps.q : &problem.own_map,
                      full,
                      panel * Sizes::kPanel,
                      work.query_start + work.row,
                      work.head,
                      0);
}
// #endregion backward-sizes

// #region backward-slopes
/// Scores become slopes of silu, and their weights are packed as the left operand of
/// dv's product, two with one reciprocal as in weigh_keys().
template <class Sizes, int kCount>
__device__ __forceinline__ void slopes_and_weights(float (&r_s)[kCount],
                                                   uint32_t (&p)[Sizes::BN / 16][4],
                                                   float alpha) {
    constexpr float kMost = 60.0f;
    constexpr float kLog2e = 1.44269504f;
    const auto divisor = [](float s) {
        return 1.0f + wb::ptx::exp2_approx(fminf(-kLog2e * s, kMost));
    };
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) {
        const float a = alpha * r_s[2 * i];
        const float b = alpha * r_s[2 * i + 1];
        const float of_a = divisor(a);
        const float of_b = divisor(b);
        const float r = wb::ptx::rcp_approx(of_a * of_b);
        const float sigma_a = of_b * r;
        const float sigma_b = of_a * r;
        const float weight_a = a * sigma_a;
        const float weight_b = b * sigma_b;
        if constexpr (Sizes::kHasDv)
            p[i / 4][i % 4] = wb::ptx::pack<typename Sizes::T>(weight_a, weight_b);
        // sigma (1 + s (1 - sigma))
        r_s[2 * i] = fmaf(weight_a, 1.0f - sigma_a, sigma_a);
        r_s[2 * i + 1] = fmaf(weight_b, 1.0f - sigma_b, sigma_b);
    }
}
// #endregion backward-slopes

// #region backward-consumer
/// The work of a warpgroup for one tile: 64 rows of q, or 64 keys, and all that they
/// make pairs with. Other than in the forward pass, four products wait for each other
/// in pairs: the one of d_o and v runs while slopes are computed, that for dv while
/// these are multiplied.
template <class Sizes>
__device__ __forceinline__ void differentiate_tile(
    BackwardShared<Sizes>& shared,
    const HstuBackwardTiles& problem,
    const TileWork& work,
    int group,
    PipelineState<Sizes::kStages>& stage,
    PipelineState<Sizes::kQueryStages> q_stage) {
    using namespace wb::ptx;
    using T = typename Sizes::T;
    using Pairs = Others<Sizes::kOfKeys, Sizes::BN>;
    constexpr int BN = Sizes::BN;
    constexpr int kSteps = BN / 16;
    // What is behind the last one has the pairs of that one; nobody stores its sums.
    const int end = work.queries - 1;
    const int first = work.row + group * kGroupRows;
    const Pairs needed(
        problem, rows_of(work), min(first, end), min(first + kGroupRows - 1, end));
    // Masks cut few blocks. They are looked up there, since all other blocks have no
    // register to spare.
    const auto mask_pairs = [&](float(&r)[BN / 2], int block) {
        const RowTile tile = rows_of(work);
        const int last = work.queries - 1;
        const int own = work.row + group * kGroupRows +
                        static_cast<int>(threadIdx.x) / wb::kWarpSize % 4 * 16 +
                        static_cast<int>(threadIdx.x) % wb::kWarpSize / 4;
        const RowMask masks[2] = {Pairs::mask(problem, tile, min(own, last)),
                                  Pairs::mask(problem, tile, min(own + 8, last))};
        mask_scores(r, block * BN, masks);
    };
    const KeyBlocks blocks = others_of_tile<Sizes>(problem, work).blocks;
    const bool has_rows = first <= end;
    const int from = has_rows ? blocks.place_of(needed.blocks.top) : blocks.count;
    const int to = has_rows
                       ? blocks.place_of(needed.blocks[needed.blocks.count - 1]) + 1
                       : blocks.count;
    const int own_bytes = group * kGroupRows * kSwizzleBytes;
    const unsigned char* const s_q = shared.q[q_stage.stage] + own_bytes;
    [[maybe_unused]] const unsigned char* const s_own =
        shared.own[q_stage.stage] + own_bytes;
    [[maybe_unused]] float r_ds[Sizes::D / 2] = {};  // sums: dq or dk
    [[maybe_unused]] float r_dv[Sizes::D / 2] = {};
    float r_s[BN / 2];
    [[maybe_unused]] float r_d[BN / 2];
    [[maybe_unused]] uint32_t packed_weights[kSteps][4];
    [[maybe_unused]] uint32_t packed_ds[kSteps][4];

    for (int i = 0; i < from; ++i)
        pass_block(shared, group, stage);
    mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
    for (int i = from; i < to; ++i) {
        const int block = blocks[i];
        const unsigned char* const k = shared.k[stage.stage];
        const unsigned char* const v = shared.v[stage.stage];
        mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
        wgmma_fence();
        start_scores<Sizes>(r_s, s_q, k);
        wgmma_commit();
        mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
        if constexpr (Sizes::kHasDs) {
            wgmma_fence();
            start_scores<Sizes>(r_d, s_own, v);
            wgmma_commit();
            wgmma_wait<1>();
        } else {
            wgmma_wait<0>();
        }
        wgmma_keep(r_s);
        const bool is_full = needed.is_full(block);
        if (!is_full) mask_pairs(r_s, block);
        slopes_and_weights<Sizes>(r_s, packed_weights, problem.alpha);
        if constexpr (Sizes::kHasDv) {
            wgmma_fence();
            start_output<Sizes>(r_dv, packed_weights, v, true);
            wgmma_commit();
        }
        if constexpr (Sizes::kHasDs) {
            wgmma_wait<Sizes::kHasDv ? 1 : 0>();  // dv may still be on its way
            wgmma_keep(r_d);
            // The slope of a score of 0 is not 0.
            if (!is_full) mask_pairs(r_d, block);
#pragma unroll
            for (int e = 0; e < BN / 2; ++e)
                r_d[e] *= r_s[e];
            pack_operand<T>(packed_ds, r_d);
            wgmma_fence();
            start_output<Sizes>(r_ds, packed_ds, k, true);
            wgmma_commit();
        }
        wgmma_wait<0>();
        if constexpr (Sizes::kHasDv) wgmma_keep(r_dv);
        if constexpr (Sizes::kHasDs) wgmma_keep(r_ds);
        release(&shared.k_empty[stage.stage]);
        release(&shared.v_empty[stage.stage]);
        stage.advance();
    }
    for (int i = to; i < blocks.count; ++i)
        pass_block(shared, group, stage);
    release_together(&shared.q_empty[q_stage.stage], group);
    if constexpr (Sizes::kHasDs) {
        const float factor = problem.alpha * problem.factor;
        store_scaled_rows<Sizes>(problem, work, group, r_ds, {factor, factor});
    }
    if constexpr (Sizes::kHasDv) {
        HstuTiles of_dv = problem;
        of_dv.o = problem.dv;
        store_scaled_rows<Sizes>(
            of_dv, work, group, r_dv, {problem.factor, problem.factor});
    }
}
// #endregion backward-consumer

// #region backward-kernel
/// hstu_backward_v4: dq of 128 rows of q, over the keys that they see; or dk and dv of
/// 128 keys, over the rows that see them, as v3 has it. A block stays, and takes tile
/// after tile; no two blocks add to one sum.
///
///     dq:  S = q k^T,    dA = d_o v^T,    dq += dS k
///     dk:  S^T = k q^T,  dA^T = v d_o^T,  dk += dS^T q
///     dv:  S^T = k q^T,                   dv += A^T d_o
///
/// @param maps  q: of q, or of k; k and v: of k and v, or of q and d_o
///
/// Launch   grid one block a multiprocessor, or fewer; block Sizes::kThreads, dynamic
///          shared memory sizeof(BackwardShared<Sizes>) + 1024; sm_90a
/// Traffic  reads what a block owns once, and the others once for each tile that has
///          pairs with them, mostly from the L2 cache
/// Error    as the contract: A and dS are rounded to T, sums are float
template <class Sizes>
__global__ void __launch_bounds__(Sizes::kThreads, 1)
    hstu_backward_v4_kernel(const __grid_constant__ TensorMaps maps,
                            const __grid_constant__ HstuBackwardTiles problem) {
    extern __shared__ unsigned char s_dynamic[];
    const uint32_t past = wb::ptx::shared_address(s_dynamic) % 1024;
    auto& shared =
        *reinterpret_cast<BackwardShared<Sizes>*>(s_dynamic + (1024 - past) % 1024);
    make_barriers(shared);
    const int group = consumer_group();
    Schedule<Sizes, Source::packed, HstuTiles> schedule{shared, problem, {}};
    PipelineState<Sizes::kStages> stage;
    PipelineState<Sizes::kQueryStages> q_stage;
    if (group < 0) {
        wb::ptx::registers_give_back<Sizes::kProducerRegisters>();
        if (threadIdx.x >= wb::kWarpSize) return;
        const Copies<Sizes, Source::packed> copy{shared, maps, problem};
        const auto look_up = [&](int number) {
            return backward_work<Sizes>(problem, number);
        };
        for (TileWork work = schedule.take(look_up); work.blocks > 0;
             work = schedule.take(look_up)) {
            const KeyBlocks blocks = others_of_tile<Sizes>(problem, work).blocks;
            copy_own(shared, maps, problem, work, q_stage);
            q_stage.advance();
            for (int i = 0; i < blocks.count; ++i) {
                copy.keys(work, blocks[i], stage);
                copy.values(work, blocks[i], stage);
                stage.advance();
            }
        }
    } else {
        wb::ptx::registers_take<Sizes::kConsumerRegisters>();
        while (true) {
            const TileWork& work = schedule.receive();
            if (work.blocks == 0) return;
            differentiate_tile(shared, problem, work, group, stage, q_stage);
            schedule.finish();
            q_stage.advance();
        }
    }
}
// #endregion backward-kernel

// #region backward-launch
/// One launch of the backward pass. Returns false, and does nothing, if there are more
/// tiles than an int counts.
template <int D, Gradient kOf, class T>
bool launch_hstu_backward_v4(const HstuCall<T>& call,
                             const HstuGradients<T>& out,
                             cudaStream_t stream) {
    using Sizes = BackwardSizes<T, D, kOf>;
    HstuBackwardTiles problem = {};
    const int64_t tiles = count_tiles<Sizes>(problem, call);
    if (tiles > INT_MAX) return false;
    fill_problem<Sizes>(problem, call, tiles);
    problem.o = Sizes::kOfKeys ? out.dk : out.dq;
    problem.dv = out.dv;
    const auto map = [&](const char* name, const T* base, int box_rows) {
        return wb::tensor_map<T>(name, rows_of_call(call, base), box_rows);
    };
    const T* const q = call.q;
    const TensorMaps maps = {
        map("own", Sizes::kOfKeys ? call.k : q, Sizes::BM),
        map("others", Sizes::kOfKeys ? q : call.k, Sizes::BN),
        map("their values", Sizes::kOfKeys ? out.d_o : call.v, Sizes::BN)};
    problem.own_map = map("own values", Sizes::kOfKeys ? call.v : out.d_o, Sizes::BM);
    const wb::Scratch<unsigned> counter(1, stream);
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), stream));
    problem.counter = counter.data();
    wb::launch_kernel(
        hstu_backward_v4_kernel<Sizes>,
        static_cast<unsigned>(std::min<int64_t>(tiles, wb::multiprocessors())),
        Sizes::kThreads,
        sizeof(BackwardShared<Sizes>) + 1024,
        stream,
        maps,
        problem);
    return true;
}

/// v4, and v3 for what it leaves.
template <class T>
requires(sizeof(T) == 2) static void hstu_backward_v4(const HstuCall<T>& call,
                                                      const HstuGradients<T>& gradients,
                                                      cudaStream_t stream) {
    bool is_done = false;
    if (has_wgmma_kernel(call))
        wb::with_head_dim<64, 128, 256>(call.head_dim, [&](auto head_dim) {
            constexpr int D = head_dim();
            const auto launch = [&](auto of) {
                return launch_hstu_backward_v4<D, of()>(call, gradients, stream);
            };
            using enum Gradient;
            // All have the same number of tiles: all are launched, or none.
            is_done = launch(std::integral_constant<Gradient, dq>());
            if (!is_done) return;
            // With 256 columns, both sums and their products would be spilled.
            if constexpr (D == 256) {
                launch(std::integral_constant<Gradient, dk>());
                launch(std::integral_constant<Gradient, dv>());
            } else {
                launch(std::integral_constant<Gradient, dk_dv>());
            }
        });
    if (!is_done) hstu_backward_v3(call, gradients, stream);
}
// #endregion backward-launch
