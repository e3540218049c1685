// hopper_attention.cu: attention as fast as an H100 can: TMA, wgmma, warps with jobs.
#include "hopper_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "calls.h"
#include "kernel.h"

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
        // Delete these three lines: they prevent warnings.
        (void)s, (void)p, (void)factor, (void)blocks;
        (void)limits, (void)q;
        for (float& x : o) x = 0.0f;
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

// #region contract
/// What all functions of the contract do: check, then launch.
///
/// @param prepare  fills in a Call, after it has checked the arguments; false if
///                 nothing is left to do
template <class T, Source kSource, class Prepare>
static void attend(Prepare prepare) {
    WB_NOT_SOLVED();  // delete this line when the TODO above is written
    Call call;
    if (!prepare(call)) return;
    launch_consumer<Consumer, kSource, T, TwoGroups>(call);
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
