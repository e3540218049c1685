// contract.h: the contract, with the pieces of a struct Wrong that the mutant has
// defined. Only bf16 and D = 64 are there: what the test that rejects it asks for.
#pragma once

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
        const Limits limits = Wrong::limits(problem, work, group);
        const unsigned char* const q =
            shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
        Wrong::template clear<Tiling, kSource>(shared, work, stage);
        const int blocks =
            Wrong::template skip<Tiling>(shared, problem, work, group, stage);
        mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
        for (int block = blocks - 1; block >= 0; --block) {
            mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
            Wrong::fence();
            Wrong::template scores<Tiling>(
                s, q, shared.k[Wrong::key_stage(stage.stage)]);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_keep(s);
            release(&shared.k_empty[stage.stage]);

            Wrong::template mask<kKeys>(s, block, limits);
            softmax_step<kKeys>(s, problem.scale_log2, rows, factor);
            pack_weights<typename Tiling::T, kKeys>(p, s);
            const bool first = block == blocks - 1;
            if (!first) Wrong::rescale_output(o, factor);

            mbarrier_wait(&shared.v_full[stage.stage],
                          Wrong::value_parity(stage.parity));
            Wrong::fence();
            start_output<Tiling>(o, p, shared.v[stage.stage], !first);
            wgmma_commit();
            if constexpr (Wrong::kReleasesEarly) release(&shared.v_empty[stage.stage]);
            wgmma_wait<0>();
            wgmma_keep(o);
            if constexpr (!Wrong::kReleasesEarly) release(&shared.v_empty[stage.stage]);
            stage.advance();
        }
        Wrong::adjust(rows);
        Wrong::template finish<Tiling, kSource>(
            shared, problem, work, group, q_stage.stage, o, rows);
    }
};

template <Source kSource>
void launch_mutant(const Call& call) {
    using Tiles = Tiling<__nv_bfloat16, 64, 2, 128, 2, 1, Wrong::kTmaStore>;
    if (call.head_dim != 64) throw std::logic_error("this mutant has D = 64 only");
    launch_tiles<Tiles>(hopper_attention_kernel<Consumer, Tiles, kSource>,
                        Tiles::kThreads,
                        kSharedBytes<Tiles>,
                        0,
                        call);
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
        launch_mutant<Source::dense>(call);
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
        launch_mutant<Source::packed>(call);
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
        throw std::logic_error("this mutant has bf16 only");
}

void hopper_attention_packed(const PackedShape&,
                             const __half*,
                             const __half*,
                             const __half*,
                             const int32_t*,
                             const int32_t*,
                             __half*,
                             float*,
                             cudaStream_t) {
    throw std::logic_error("this mutant has bf16 only");
}

void hopper_attention_paged(const PackedShape&,
                            const wb::PagedCache&,
                            const __nv_bfloat16*,
                            const int32_t*,
                            __nv_bfloat16*,
                            float*,
                            const wb::PagedWorkspace&,
                            cudaStream_t) {
    throw std::logic_error("this mutant knows no pages");
}
