// hopper_attention.cu: attention as fast as an H100 can: TMA, wgmma, warps with jobs.
// #solution
//
// The ladder, bf16, D = 128, N = 8192:
//   v1  TMA + wgmma          tiles come by themselves, products run by themselves
//   v2  producer, consumers  one warp loads ahead; barriers count bytes; setmaxnreg
//   v3  ping-pong            one warpgroup's softmax under the other's products
//   v4  overlap              each warpgroup's softmax under its own products, too
//   v5  three consumers      persistent blocks, longest tile first, skipped blocks
//   v6  FP8                  e4m3 numbers: twice the products a second (fp8.h)
// #end
#include "hopper_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
#include <wb/scratch.h>
// #end

#include <cstdint>
#include <string>
#include <type_traits>

#include "calls.h"
#include "kernel.h"
// #solution

#include "one_loop.h"
#include "persistent.h"
#include "ping_pong.h"
// #end

/// Calls launch(std::integral_constant<int, D>), so that D is a constant of the kernel.
/// No paged cache has D = 256.
template <Source kSource, class Launch>
static void with_head_dim(int64_t head_dim, Launch launch) {
    if (head_dim == 64) {
        launch(std::integral_constant<int, 64>());
    } else if (head_dim == 128) {
        launch(std::integral_constant<int, 128>());
    } else if constexpr (kSource != Source::paged) {
        launch(std::integral_constant<int, 256>());
    }
}

/// Two warpgroups of 64 rows, 128 keys a block, twice in shared memory. D = 256 leaves
/// room for 64 keys.
template <class T, int D>
using TwoGroups = Tiling<T, D, 2, D == 256 ? 64 : 128, 2>;

// #region v2-consumer
/// A consuming warpgroup: products and softmax of one block after the other.
struct Consumer {
    /// The work of one warpgroup for one tile.
    ///
    /// @param group    which 64 rows of the tile are its own
    /// @param stage    where the first block of keys and values will be; goes on to
    ///                 where the next tile's will be
    /// @param q_stage  where q will be
    template <class Tiling, Source kSource>
    static __device__ __forceinline__ void tile(SharedTiles<Tiling>& shared,
                                                const Problem& problem,
                                                const Work& work,
                                                int group,
                                                Ring<Tiling::kStages>& stage,
                                                Ring<Tiling::kQueryStages> q_stage) {
        using namespace wb::ptx;
        constexpr int kKeys = Tiling::kKeys;
        float s[kKeys / 2];         // scores, then weights, of two rows
        uint32_t p[kKeys / 16][4];  // weights, rounded, as wgmma wants them
        float o[Tiling::kDim / 2];  // output of two rows, not divided yet
        float factor[2];            // what to multiply o by
        RowSums rows;
        const Limits limits = limits_of(problem, work, group);
        const unsigned char* const q =
            shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
        clear_values_behind<Tiling, kSource>(shared, work, stage);
        const int blocks =
            skip_unseen_blocks<Tiling>(shared, problem, work, group, stage);
        mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
        // TODO(learner): for each block of keys from blocks - 1 down to 0: wait for its
        // keys; start s = q k^T between a fence and a commit, wait for it, and release
        // the keys. Mask the block, make weights of the scores, pack them, rescale o.
        // Wait for the values; o += p v in the same way (the first block overwrites o),
        // and release them. Advance the ring (about 24 lines)
        // #starter // Delete these three lines: they prevent warnings.
        // #starter (void)s, (void)p, (void)factor, (void)blocks;
        // #starter (void)limits, (void)q;
        // #starter for (float& x : o) x = 0.0f;
        // #solution
        for (int block = blocks - 1; block >= 0; --block) {
            mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
            wgmma_fence();
            start_scores<Tiling>(s, q, shared.k[stage.stage]);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_keep(s);
            release(&shared.k_empty[stage.stage]);

            mask_block<kKeys>(s, block, limits);
            softmax_step<kKeys>(s, problem.scale_log2, rows, factor);
            pack_weights<typename Tiling::T, kKeys>(p, s);
            const bool first = block == blocks - 1;
            if (!first) rescale(o, factor);

            mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
            wgmma_fence();
            start_output<Tiling>(o, p, shared.v[stage.stage], !first);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_keep(o);
            release(&shared.v_empty[stage.stage]);
            stage.advance();
        }
        // #end
        finish_rows<Tiling, kSource>(
            shared, problem, work, group, q_stage.stage, o, rows);
    }
};
// #endregion v2-consumer

// #region v2-launch
/// One tile of rows a block.
///
/// @tparam Kind   of consumer
/// @tparam Tiles  sizes for T and a head dimension
template <class Kind, Source kSource, class T, template <class, int> class Tiles>
static void launch_consumer(const Call& call) {
    with_head_dim<kSource>(call.head_dim, [&](auto head_dim) {
        using Tiling = Tiles<T, head_dim()>;
        launch_tiles<Tiling>(hopper_attention_kernel<Kind, Tiling, kSource>,
                             Tiling::kThreads,
                             kSharedBytes<Tiling>,
                             0,
                             call);
    });
}
// #endregion v2-launch
// #solution

// #region v1-launch
template <class T>
static void hopper_attention_v1(const wb::AttentionShape& shape,
                                const T* q,
                                const T* k,
                                const T* v,
                                T* o,
                                float* lse,
                                cudaStream_t stream) {
    Call call;
    if (!dense_call(shape, q, k, v, o, lse, stream, call)) return;
    with_head_dim<Source::dense>(call.head_dim, [&](auto head_dim) {
        using Tiling = TwoGroups<T, head_dim()>;
        launch_tiles<Tiling>(hopper_attention_v1_kernel<Tiling>,
                             kThreadsV1<Tiling>,
                             kSharedBytes<Tiling>,
                             0,
                             call);
    });
}
// #endregion v1-launch

/// Two warpgroups, and as many keys a block as registers and shared memory hold.
template <class T, int D>
using LargeBlocks = Tiling<T, D, 2, D == 256 ? 80 : 176, 2>;

/// v2 to v4.
template <class Kind, class T, template <class, int> class Tiles = TwoGroups>
static void hopper_attention_tiles(const wb::AttentionShape& shape,
                                   const T* q,
                                   const T* k,
                                   const T* v,
                                   T* o,
                                   float* lse,
                                   cudaStream_t stream) {
    Call call;
    if (dense_call(shape, q, k, v, o, lse, stream, call))
        launch_consumer<Kind, Source::dense, T, Tiles>(call);
}

// #region v5-launch
/// The tiles that were fastest on an H100. Three warpgroups, for D = 64 even four:
/// while some wait for products or compute a softmax, another one has the tensor cores.
/// Each thread then has 160 or 112 registers, 32 or 24 in the producer: too few for D =
/// 256, and to look up pages. With D = 256, two warpgroups in the loop of v4: a block's
/// products take almost three times as long as its softmax. The TMA unit stores o
/// where there are two tiles of q: with one, the next q would have to wait for it.
template <class T, int D, Source kSource>
struct TilesV5 {
    using type = Tiling<T, D, 2, 128, D == 64 ? 4 : 2, 2>;
    using Loop = Consumer;
};
template <class T, Source kSource>
requires(kSource != Source::paged) struct TilesV5<T, 64, kSource> {
    using type = Tiling<T, 64, 4, 96, 3, 2, true>;
    using Loop = Consumer;
};
template <class T, Source kSource>
requires(kSource != Source::paged) struct TilesV5<T, 128, kSource> {
    using type = Tiling<T, 128, 3, 128, 2, 2, true>;
    using Loop = Consumer;
};
template <class T, Source kSource>
struct TilesV5<T, 256, kSource> {
    using type = Tiling<T, 256, 2, 80, 2>;
    using Loop = PingPong<true>;
};

/// One block a multiprocessor. A counter hands out tiles, unless all of them take the
/// same time: then it does not matter who takes which.
template <class Tiling, class Loop, Source kSource>
static void launch_tiling(const Call& call, unsigned multiprocessors) {
    const auto launch = [&](unsigned* counter) {
        launch_tiles<Tiling>(hopper_attention_v5_kernel<Loop, Tiling, kSource>,
                             Tiling::kThreads,
                             kSharedBytes<Tiling>,
                             multiprocessors,
                             call,
                             counter);
    };
    const bool all_the_same = kSource == Source::dense && !call.problem.causal &&
                              call.problem.queries % Tiling::kRows == 0;
    if (all_the_same) return launch(nullptr);
    const wb::Scratch<unsigned> counter(1, call.stream);
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), call.stream));
    launch(counter.data());
}

template <Source kSource, class T>
static void launch_persistent(const Call& call) {
    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(
        &multiprocessors, cudaDevAttrMultiProcessorCount, device));
    with_head_dim<kSource>(call.head_dim, [&](auto head_dim) {
        using Tiles = TilesV5<T, head_dim(), kSource>;
        launch_tiling<typename Tiles::type, typename Tiles::Loop, kSource>(
            call, static_cast<unsigned>(multiprocessors));
    });
}

template <class T>
static void hopper_attention_v5(const wb::AttentionShape& shape,
                                const T* q,
                                const T* k,
                                const T* v,
                                T* o,
                                float* lse,
                                cudaStream_t stream) {
    Call call;
    if (dense_call(shape, q, k, v, o, lse, stream, call))
        launch_persistent<Source::dense, T>(call);
}
// #endregion v5-launch

/// Lists a rung for both types of number; WB_RUNG knows functions of one type.
template <class T>
using Launcher = void(
    const wb::AttentionShape&, const T*, const T*, const T*, T*, float*, cudaStream_t);
static bool list_rung(const std::string& version,
                      const std::string& idea,
                      Launcher<__half>* fp16,
                      Launcher<__nv_bfloat16>* bf16) {
    using Erased = void (*)();
    const auto list = [&](const std::string& exercise, Erased launcher) {
        const std::string name = "hopper_attention_" + version;
        return wb::register_rung(
            exercise.c_str(), name.c_str(), idea.c_str(), launcher);
    };
    return list("hopper_attention_fp16", reinterpret_cast<Erased>(fp16)) &&
           list("hopper_attention_bf16", reinterpret_cast<Erased>(bf16));
}
[[maybe_unused]] static const bool rungs_listed =
    list_rung("v1",
              "TMA and wgmma",
              hopper_attention_v1<__half>,
              hopper_attention_v1<__nv_bfloat16>) &&
    list_rung("v2",
              "a warp that produces, warpgroups that consume",
              hopper_attention_tiles<Consumer, __half>,
              hopper_attention_tiles<Consumer, __nv_bfloat16>) &&
    list_rung("v3",
              "ping-pong: turns on the tensor cores",
              hopper_attention_tiles<PingPong<false>, __half>,
              hopper_attention_tiles<PingPong<false>, __nv_bfloat16>) &&
    list_rung("v4",
              "softmax under its own products, larger blocks",
              hopper_attention_tiles<PingPong<true>, __half, LargeBlocks>,
              hopper_attention_tiles<PingPong<true>, __nv_bfloat16, LargeBlocks>) &&
    list_rung("v5",
              "three consumers, persistent, longest tile first",
              hopper_attention_v5<__half>,
              hopper_attention_v5<__nv_bfloat16>);
// #end

// #region contract
/// What all functions of the contract do: check, then launch.
///
/// @param prepare  fills in a Call, after it has checked the arguments; false if
///                 nothing is left to do
template <class T, Source kSource, class Prepare>
static void attend(Prepare prepare) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO above is written
    Call call;
    if (!prepare(call)) return;
    // #starter launch_consumer<Consumer, kSource, T, TwoGroups>(call);
    // #solution
    launch_persistent<kSource, T>(call);
    // #end
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __half* q,
                      const __half* k,
                      const __half* v,
                      __half* o,
                      float* lse,
                      cudaStream_t stream) {
    attend<__half, Source::dense>(
        [&](Call& call) { return dense_call(shape, q, k, v, o, lse, stream, call); });
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __nv_bfloat16* q,
                      const __nv_bfloat16* k,
                      const __nv_bfloat16* v,
                      __nv_bfloat16* o,
                      float* lse,
                      cudaStream_t stream) {
    attend<__nv_bfloat16, Source::dense>(
        [&](Call& call) { return dense_call(shape, q, k, v, o, lse, stream, call); });
}

void hopper_attention_packed(const PackedShape& shape,
                             const __half* q,
                             const __half* k,
                             const __half* v,
                             const int32_t* query_starts,
                             const int32_t* key_starts,
                             __half* o,
                             float* lse,
                             cudaStream_t stream) {
    attend<__half, Source::packed>([&](Call& call) {
        return packed_call(
            shape, q, k, v, query_starts, key_starts, o, lse, stream, call);
    });
}

void hopper_attention_packed(const PackedShape& shape,
                             const __nv_bfloat16* q,
                             const __nv_bfloat16* k,
                             const __nv_bfloat16* v,
                             const int32_t* query_starts,
                             const int32_t* key_starts,
                             __nv_bfloat16* o,
                             float* lse,
                             cudaStream_t stream) {
    attend<__nv_bfloat16, Source::packed>([&](Call& call) {
        return packed_call(
            shape, q, k, v, query_starts, key_starts, o, lse, stream, call);
    });
}

void hopper_attention_paged(const PackedShape& shape,
                            const wb::PagedCache& cache,
                            const __nv_bfloat16* q,
                            const int32_t* query_starts,
                            __nv_bfloat16* o,
                            float* lse,
                            const wb::PagedWorkspace& workspace,
                            cudaStream_t stream) {
    attend<__nv_bfloat16, Source::paged>([&](Call& call) {
        return paged_call(
            shape, cache, q, query_starts, o, lse, workspace, stream, call);
    });
}
// #endregion contract
