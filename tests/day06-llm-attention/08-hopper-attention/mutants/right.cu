// The right hopper_attention that the .diff files edit: the consumer of v2.
#include "hopper_attention.h"

#include <wb/errors.h>

#include <type_traits>

#include "calls.h"
#include "kernel.h"

struct Consumer {
    template <class Tiling, Source kSource>
    static __device__ __forceinline__ void tile(SharedTiles<Tiling>& shared,
                                                const Problem& problem,
                                                const Work& work,
                                                int group,
                                                Ring<Tiling::kStages>& stage,
                                                Ring<Tiling::kQueryStages> q_stage) {
        using namespace wb::ptx;
        constexpr int kKeys = Tiling::kKeys;
        float s[kKeys / 2];
        uint32_t p[kKeys / 16][4];
        float o[Tiling::kDim / 2];
        float factor[2];
        RowSums rows;
        const Limits limits = limits_of(problem, work, group);
        const unsigned char* const q =
            shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
        clear_values_behind<Tiling, kSource>(shared, work, stage);
        const int blocks =
            skip_unseen_blocks<Tiling>(shared, problem, work, group, stage);
        mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
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
        finish_rows<Tiling, kSource>(
            shared, problem, work, group, q_stage.stage, o, rows);
    }
};

/// @tparam kTmaStore  the TMA unit stores o
template <class T, int D, Source kSource, bool kTmaStore = false>
void launch_dim(const Call& call) {
    using Tiles = Tiling<T, D, 2, D == 256 ? 64 : 128, 2, 1, kTmaStore>;
    launch_tiles<Tiles>(hopper_attention_kernel<Consumer, Tiles, kSource>,
                        Tiles::kThreads,
                        kSharedBytes<Tiles>,
                        0,
                        call);
}

/// The wrong kernels have bf16 and D = 64 only, as they take long to compile; the test
/// case that rejects one begins with those.
template <class T, Source kSource>
void launch_consumer(const Call& call) {
    constexpr bool kPaged = kSource == Source::paged;
#ifndef WB_RIGHT_TEXT
    if constexpr (kPaged || std::is_same_v<T, __half>) {
        throw wb::NotSolved("this mutant has bf16 without pages only");
    } else if (call.head_dim != 64) {
        throw wb::NotSolved("this mutant has D = 64 only");
    } else {
        launch_dim<T, 64, kSource>(call);
    }
#else
    if (call.head_dim == 64) return launch_dim<T, 64, kSource>(call);
    if (call.head_dim == 128) return launch_dim<T, 128, kSource>(call);
    if constexpr (!kPaged) launch_dim<T, 256, kSource>(call);
#endif
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __half* q,
                      const __half* k,
                      const __half* v,
                      __half* o,
                      float* lse,
                      cudaStream_t stream) {
    Call call;
    if (dense_call(shape, q, k, v, o, lse, stream, call))
        launch_consumer<__half, Source::dense>(call);
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
    Call call;
    if (packed_call(shape, q, k, v, query_starts, key_starts, o, lse, stream, call))
        launch_consumer<__half, Source::packed>(call);
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __nv_bfloat16* q,
                      const __nv_bfloat16* k,
                      const __nv_bfloat16* v,
                      __nv_bfloat16* o,
                      float* lse,
                      cudaStream_t stream) {
    Call call;
    if (dense_call(shape, q, k, v, o, lse, stream, call))
        launch_consumer<__nv_bfloat16, Source::dense>(call);
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
    Call call;
    if (packed_call(shape, q, k, v, query_starts, key_starts, o, lse, stream, call))
        launch_consumer<__nv_bfloat16, Source::packed>(call);
}

void hopper_attention_paged(const PackedShape& shape,
                            const wb::PagedCache& cache,
                            const __nv_bfloat16* q,
                            const int32_t* query_starts,
                            __nv_bfloat16* o,
                            float* lse,
                            const wb::PagedWorkspace& workspace,
                            cudaStream_t stream) {
    Call call;
    if (paged_call(shape, cache, q, query_starts, o, lse, workspace, stream, call))
        launch_consumer<__nv_bfloat16, Source::paged>(call);
}
