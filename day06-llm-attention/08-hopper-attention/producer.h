// producer.h: given with this exercise: the warp that has tiles copied into shared
// memory, and does nothing else.
#pragma once

#include "problem.h"
#include "tiles.h"

/// The three tensors, as the TMA unit knows them: dimensions D, rows, heads, sequences
/// (pages, if paged). A kernel's parameters, and only for that declared like this:
/// `const __grid_constant__ TensorMaps maps`.
struct TensorMaps {
    wb::ptx::TensorMap q, k, v;
};

// #region copies
/// Starts the copies of one block; all lanes of one warp call its functions together.
template <class Tiling, Source kSource>
struct Copies {
    SharedTiles<Tiling>& shared;
    const TensorMaps& maps;
    const Problem& problem;

    /// The kRows rows of q of a tile. Rows past the end are zeros, or, if packed, those
    /// of the next sequence: nobody stores what comes of them.
    __device__ __forceinline__ void queries(const Work& work,
                                            Ring<Tiling::kQueryStages> ring) const {
        wb::ptx::mbarrier_wait(&shared.q_empty[ring.stage], ring.parity ^ 1);
        wb::ptx::Mbarrier* const full = &shared.q_full[ring.stage];
        announce(full, Tiling::kQueryBytes);
        const int panel = lane();
        if (panel < Tiling::kPanels) {
            const bool dense = kSource == Source::dense;
            wb::ptx::tma_load(
                shared.q[ring.stage] + panel * Tiling::kRows * wb::ptx::kSwizzleBytes,
                &maps.q,
                full,
                panel * Tiling::kPanel,
                work.query_start + work.row,
                work.head,
                dense ? work.sequence : 0);
        }
    }

    /// Block number `block` of the keys.
    __device__ __forceinline__ void keys(const Work& work,
                                         int block,
                                         Ring<Tiling::kStages> ring) const {
        wb::ptx::mbarrier_wait(&shared.k_empty[ring.stage], ring.parity ^ 1);
        rows(shared.k[ring.stage], maps.k, &shared.k_full[ring.stage], work, block);
    }

    /// Block number `block` of the values.
    __device__ __forceinline__ void values(const Work& work,
                                           int block,
                                           Ring<Tiling::kStages> ring) const {
        wb::ptx::mbarrier_wait(&shared.v_empty[ring.stage], ring.parity ^ 1);
        rows(shared.v[ring.stage], maps.v, &shared.v_full[ring.stage], work, block);
    }

 private:
    static __device__ __forceinline__ int lane() {
        return static_cast<int>(threadIdx.x % wb::kWarpSize);
    }

    static __device__ __forceinline__ void announce(wb::ptx::Mbarrier* full,
                                                    int bytes) {
        if (lane() == 0) wb::ptx::mbarrier_expect(full, bytes);
        __syncwarp();
    }

    /// Each lane takes some panels of some pages: with small pages there are many, and
    /// each has to be looked up in the table.
    __device__ __forceinline__ void rows(unsigned char* tile,
                                         const wb::ptx::TensorMap& map,
                                         wb::ptx::Mbarrier* full,
                                         const Work& work,
                                         int block) const {
        announce(full, Tiling::kKeyBytes);
        const int pieces = kSource == Source::paged
                               ? Tiling::kKeys / problem.copy_rows * Tiling::kPanels
                               : Tiling::kPanels;
        for (int piece = lane(); piece < pieces; piece += wb::kWarpSize) {
            const int panel = piece % Tiling::kPanels;
            const int row = piece / Tiling::kPanels * problem.copy_rows;
            const int key = block * Tiling::kKeys + row;
            int place = work.key_start + key;
            int sequence = kSource == Source::dense ? work.sequence : 0;
            if constexpr (kSource == Source::paged) {
                place = key % static_cast<int>(problem.cache.page_size);
                sequence = page_of(work, key);
            }
            wb::ptx::tma_load(
                tile + (panel * Tiling::kKeys + row) * wb::ptx::kSwizzleBytes,
                &map,
                full,
                panel * Tiling::kPanel,
                place,
                work.kv_head,
                sequence);
        }
    }

    /// The page of a key. Where there is none, a page past the last one: of that, the
    /// TMA unit reads zeros.
    __device__ __forceinline__ int page_of(const Work& work, int key) const {
        int64_t page = -1;
        if (key < work.keys) {
            page = wb::checked_page(problem.cache,
                                    work.sequence,
                                    key / static_cast<int>(problem.cache.page_size),
                                    problem.status);
        }
        return static_cast<int>(page < 0 ? problem.cache.num_pages : page);
    }
};
// #endregion copies

// #region produce
/// Everything that one tile needs, in the order in which it is needed; blocks of keys
/// from the last to the first, because the last ones may need a mask. By one warp.
///
/// @param stage    of the first block; goes on to that of the next tile's first block
/// @param q_stage  the same of q
template <class Tiling, Source kSource>
__device__ __forceinline__ void produce_tile(const Copies<Tiling, kSource>& copy,
                                             const Work& work,
                                             Ring<Tiling::kStages>& stage,
                                             Ring<Tiling::kQueryStages>& q_stage) {
    copy.queries(work, q_stage);
    q_stage.advance();
    for (int block = work.blocks - 1; block >= 0; --block) {
        copy.keys(work, block, stage);
        copy.values(work, block, stage);
        stage.advance();
    }
}
// #endregion produce
