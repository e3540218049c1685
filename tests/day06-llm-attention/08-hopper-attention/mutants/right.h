// right.h: the consumer of v2 in pieces, so that a mutant can change one of them.
#pragma once
#include "hopper_attention.h"

#include <stdexcept>

#include "calls.h"
#include "kernel.h"

/// The pieces as they should be. A mutant derives from it and hides one.
struct Right {
    static __device__ void fence() { wb::ptx::wgmma_fence(); }
    template <class Tiling>
    static __device__ void scores(float (&s)[Tiling::kKeys / 2],
                                  const unsigned char* q,
                                  const unsigned char* k) {
        start_scores<Tiling>(s, q, k);
    }
    static __device__ Limits limits(const Problem& problem,
                                    const Work& work,
                                    int group) {
        return limits_of(problem, work, group);
    }
    template <int kKeys>
    static __device__ void mask(float (&s)[kKeys / 2],
                                int block,
                                const Limits& limits) {
        mask_block<kKeys>(s, block, limits);
    }
    template <int kCount>
    static __device__ void rescale_output(float (&o)[kCount],
                                          const float (&factor)[2]) {
        rescale(o, factor);
    }
    static __device__ int key_stage(int stage) { return stage; }
    static __device__ unsigned value_parity(unsigned parity) { return parity; }
    template <class Tiling, Source kSource>
    static __device__ void clear(SharedTiles<Tiling>& shared,
                                 const Work& work,
                                 Ring<Tiling::kStages> ring) {
        clear_values_behind<Tiling, kSource>(shared, work, ring);
    }
    template <class Tiling>
    static __device__ int skip(SharedTiles<Tiling>& shared,
                               const Problem& problem,
                               const Work& work,
                               int group,
                               Ring<Tiling::kStages>& stage) {
        return skip_unseen_blocks<Tiling>(shared, problem, work, group, stage);
    }
    template <class Tiling, Source kSource>
    static __device__ void finish(SharedTiles<Tiling>& shared,
                                  const Problem& problem,
                                  const Work& work,
                                  int group,
                                  int q_stage,
                                  const float (&o)[Tiling::kDim / 2],
                                  const RowSums& rows) {
        finish_rows<Tiling, kSource>(shared, problem, work, group, q_stage, o, rows);
    }
    static constexpr bool kReleasesEarly = false;
    static constexpr bool kTmaStore = false;
    static __device__ void adjust(RowSums&) {}
};
