/// wb/sparse_pattern.h: which keys each query attends to, as kernels get it.
///
/// A mask of queries x keys would be as large as the matrix of scores that attention
/// avoids. A pattern lists what is in it instead, in one of two forms. Query i, of any
/// batch and head, attends to
///
///     CsrPattern     the keys  indices[offsets[i]] ... indices[offsets[i + 1] - 1]
///
///         . x . x .      offsets  0   2   2     5     6
///         . . . . .               |   |   |     |     |
///         x x . . x      indices  1 3     0 1 4   2
///         . . x . .
///
///     BlockPattern   the keys of whole blocks of 128 queries x 64 keys. In a full
///                    block every query sees every key; a partial one has a bit for
///                    each of its 8192 pairs.
///
/// A key that is listed twice counts twice, as does a block. The order is free.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace wb {

/// A pattern in compressed sparse rows (CSR), in device memory. Owns nothing.
struct CsrPattern {
    const int64_t* offsets = nullptr;  ///< [queries + 1] rises from 0 to num_indices
    const int32_t* indices = nullptr;  ///< [num_indices] each in [0, keys)
    int64_t num_indices = 0;
};

/// A list of key blocks for each block of queries, in device memory. Owns nothing.
struct BlockList {
    const int64_t* offsets = nullptr;  ///< [block_rows + 1] rises from 0 to num_blocks
    const int32_t* blocks = nullptr;   ///< [num_blocks] key / kKeys of its first key
    int64_t num_blocks = 0;
};

/// A pattern of blocks. Owns nothing.
struct BlockPattern {
    static constexpr int kRows = 128;  ///< queries of a block
    static constexpr int kKeys = 64;   ///< keys of a block: bits of a word of masks

    BlockList full;     ///< every query sees every key, as far as both exist
    BlockList partial;  ///< query r of the block sees key j of it if bit j of
                        ///< masks[p * kRows + r] is set, p being the place in the list
    const uint64_t* masks = nullptr;  ///< [partial.num_blocks, kRows]
    const int32_t* order = nullptr;  ///< [block_rows] a permutation: the rows of blocks
                                     ///< with the most work first

    /// Rows of blocks that hold so many queries, and key blocks for so many keys.
    __host__ __device__ static int block_rows(int queries) {
        return queries / kRows + (queries % kRows != 0);
    }
    __host__ __device__ static int key_blocks(int keys) {
        return keys / kKeys + (keys % kKeys != 0);
    }
};

/// What a kernel found wrong in a pattern.
enum class PatternFault : int32_t {
    none = 0,
    offsets = 1,  ///< a row's first or last offset is not in the array, or they fall
    index = 2,    ///< a key, or a key block, that does not exist
    order = 3,    ///< an entry of order that is no row of blocks
};

/// The first fault that a kernel met, in device memory: kernels cannot throw.
struct PatternStatus {
    int32_t fault = 0;  ///< a PatternFault
    int32_t row = 0;    ///< query, or row of blocks; for order: the place in it
    int64_t place = 0;  ///< index: in the list; offsets: the row's first
    int64_t value = 0;  ///< what was found there; offsets: the row's last
};

/// Places of a list.
struct PlaceRange {
    int64_t begin;
    int64_t end;  ///< >= begin
};

#if defined(__CUDACC__) || defined(SIMT_CPU)
/// Notes a fault for the host, unless there is one already. The kernel goes on, but
/// must not use the value.
__device__ inline void report_fault(
    PatternStatus* status, PatternFault fault, int row, int64_t place, int64_t value) {
    if (atomicCAS(&status->fault, 0, static_cast<int32_t>(fault)) != 0) return;
    status->row = row;
    status->place = place;
    status->value = value;
}

/// The places of one row in a list of `count`. Offsets that do not fit are reported,
/// and the row is taken as empty: nothing outside of the list is ever read.
__device__ inline PlaceRange row_places(const int64_t* offsets,  // [rows + 1]
                                        int row,
                                        int64_t count,
                                        PatternStatus* status) {
    const int64_t begin = offsets[row];
    const int64_t end = offsets[row + 1];
    if (begin >= 0 && begin <= end && end <= count) return {begin, end};
    report_fault(status, PatternFault::offsets, row, begin, end);
    return {0, 0};
}

/// Whether an index of a list is in [0, limit); reports it otherwise.
/// @param row, place  where the index was found
__device__ inline bool check_index(
    int32_t index, int limit, int row, int64_t place, PatternStatus* status) {
    if (index >= 0 && index < limit) return true;
    report_fault(status, PatternFault::index, row, place, index);
    return false;
}
#endif

/// Owns a PatternStatus in device memory. Not for two streams at once.
class PatternCheck {
 public:
    PatternCheck();
    ~PatternCheck();
    PatternCheck(const PatternCheck&) = delete;
    PatternCheck& operator=(const PatternCheck&) = delete;

    /// The device address that kernels are given.
    PatternStatus* status() const { return status_; }

    /// Waits for the stream. Throws wb::PatternError, which names the row and the
    /// value, if a kernel found a fault since the last call; then forgets it.
    void check(cudaStream_t stream) const;

 private:
    PatternStatus* status_ = nullptr;
};

}  // namespace wb
