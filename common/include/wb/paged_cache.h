/// wb/paged_cache.h: keys and values of many sequences in pages of one pool.
///
/// A sequence is not one array: its tokens lie in pages of page_size tokens each, in
/// any order, anywhere in the pool. The block table says where, as the page table of an
/// operating system does for a program's memory. With pages of 4 tokens:
///
///     sequence 0, length 10     block_table[0] = { 5, 1, 3, -1 }
///     sequence 1, length 6      block_table[1] = { 5, 2, -1, -1 }
///
///     k and v   page 0    page 1    page 2    page 3    page 4    page 5
///              +---------+---------+---------+---------+---------+---------+
///              |         | 4 5 6 7 | 4 5 . . | 8 9 . . |         | 0 1 2 3 |
///              +---------+---------+---------+---------+---------+---------+
///                free      seq. 0    seq. 1    seq. 0     free    both: the same
///                                                                 first tokens
///
///     a page in k (and in v)         kv_head 0                kv_head 1
///     [kv_heads, page_size,    +------------------------+------------------------+
///      head_dim]               | slot 0: head_dim numbers| slot 0: ...            |
///                              | slot 1                  | slot 1                 |
///                              | ...                     | ...                    |
///                              +------------------------+------------------------+
///
/// Token t of sequence s is in page block_table[s][t / page_size], slot t % page_size.
/// Slots past a sequence's end hold anything: what an earlier owner left, or NaN.
/// Entries past its last page hold anything, too; PageAllocator writes -1.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/arguments.h>

#include <cstdint>

namespace wb {

/// A cache of numbers of type T in device memory, as kernels get it. Owns nothing.
template <class T>
struct PagedCacheOf {
    T* k = nullptr;  ///< [num_pages, kv_heads, page_size, head_dim]
    T* v = nullptr;  ///< the same shape; both 16-byte aligned
    const int32_t* block_table = nullptr;  ///< [batch, pages_per_sequence]
    const int32_t* lengths = nullptr;      ///< [batch] tokens that attention sees
    int64_t batch = 0;                     ///< sequences
    int64_t pages_per_sequence = 0;        ///< entries of a row of the table
    int64_t num_pages = 0;                 ///< pages in the pool
    int64_t kv_heads = 0;                  ///< Hkv
    int64_t page_size = 0;                 ///< tokens in a page: 16, 32, 64, 128 or 256
    int64_t head_dim = 0;                  ///< D: 64 or 128

    /// Where a row of head_dim numbers begins in k and v. All three are in range.
    __host__ __device__ int64_t row(int64_t page, int64_t kv_head, int64_t slot) const {
        return ((page * kv_heads + kv_head) * page_size + slot) * head_dim;
    }
    /// Elements of k, and of v.
    __host__ __device__ int64_t elements() const { return row(num_pages, 0, 0); }
    /// The most tokens that a row of the table has room for.
    __host__ __device__ int64_t capacity() const {
        return pages_per_sequence * page_size;
    }
};

/// The cache that attention reads.
using PagedCache = PagedCacheOf<__nv_bfloat16>;

/// Refuses a cache that no kernel takes: sizes that are not positive (batch and
/// pages_per_sequence may be 0), a page size or a head dimension that is not in the
/// list above, 2^31 pages, rows of more than 2^30 tokens, null and host pointers. What
/// is in the tables only the device knows: see PagedStatus.
/// Throws wb::InvalidArgument, which names the field.
void check_paged_cache(const Arguments& arguments, const PagedCache& cache);

/// The same for any head dimension, for caches of fp16, bf16 and FP8 (e4m3).
template <class T>
void check_pages(const Arguments& arguments, const PagedCacheOf<T>& cache);

/// What a kernel found wrong in the cache that it was given.
enum class PagedFault : int32_t {
    none = 0,
    page = 1,      ///< an entry of the table is not in [0, num_pages)
    length = 2,    ///< a length is negative, or more than the table's row has room for
    sequence = 3,  ///< append_kv: a token of a sequence that is not in [0, batch)
    position = 4,  ///< append_kv: a position past the table's row, or a negative one
};

/// The first fault that a kernel met, in device memory: kernels cannot throw.
struct PagedStatus {
    int32_t fault = 0;     ///< a PagedFault
    int32_t sequence = 0;  ///< of which sequence
    int32_t index = 0;     ///< page: which entry of its row; append_kv: which token
    int32_t value = 0;     ///< what was found there
};

#if defined(__CUDACC__) || defined(SIMT_CPU)
/// Notes a fault for the host, unless there is one already. The kernel goes on, but
/// must not use the value.
__device__ inline void report_fault(PagedStatus* status,
                                    PagedFault fault,
                                    int64_t sequence,
                                    int64_t index,
                                    int32_t value) {
    if (atomicCAS(&status->fault, 0, static_cast<int32_t>(fault)) != 0) return;
    status->sequence = static_cast<int32_t>(sequence);
    status->index = static_cast<int32_t>(index);
    status->value = value;
}

/// The tokens of a sequence. If the table has no room for so many, or the number is
/// negative: a report, and none.
template <class T>
__device__ inline int64_t checked_length(const PagedCacheOf<T>& cache,
                                         int64_t sequence,
                                         PagedStatus* status) {
    const int32_t length = cache.lengths[sequence];
    if (length >= 0 && length <= cache.capacity()) return length;
    report_fault(status, PagedFault::length, sequence, 0, length);
    return 0;
}

/// The page that holds tokens index * page_size and following of a sequence. If the
/// pool has no such page: a report, and -1, which must not be read.
template <class T>
__device__ inline int64_t checked_page(const PagedCacheOf<T>& cache,
                                       int64_t sequence,
                                       int64_t index,
                                       PagedStatus* status) {
    const int32_t page = cache.block_table[sequence * cache.pages_per_sequence + index];
    if (page >= 0 && page < cache.num_pages) return page;
    report_fault(status, PagedFault::page, sequence, index, page);
    return -1;
}

/// Whether there is a place in the table for a token that append_kv is to write; if
/// not, a report.
/// @param token  which one of those to be written
template <class T>
__device__ inline bool checked_place(const PagedCacheOf<T>& cache,
                                     int32_t sequence,
                                     int32_t position,
                                     int64_t token,
                                     PagedStatus* status) {
    if (sequence < 0 || sequence >= cache.batch) {
        report_fault(status, PagedFault::sequence, sequence, token, sequence);
        return false;
    }
    if (position < 0 || position >= cache.capacity()) {
        report_fault(status, PagedFault::position, sequence, token, position);
        return false;
    }
    return true;
}
#endif

/// Device memory that all calls on one stream share: the status of PagedStatus, and
/// counters with which the blocks of one launch find out which of them is the last one.
/// The counters are zero before and after each call. Not for two streams at once.
class PagedWorkspace {
 public:
    /// @param counters  as many as there are pairs of a sequence and a query head, or
    ///                  more
    explicit PagedWorkspace(int64_t counters);
    ~PagedWorkspace();
    PagedWorkspace(const PagedWorkspace&) = delete;
    PagedWorkspace& operator=(const PagedWorkspace&) = delete;

    PagedStatus* status() const { return status_; }
    uint32_t* counters() const { return counters_; }
    int64_t num_counters() const { return num_counters_; }

    /// Waits for the stream. Throws wb::PagedCacheError, which names the sequence and
    /// the value, if a kernel found a fault since the last call; then forgets it.
    void check(cudaStream_t stream) const;

 private:
    PagedStatus* status_ = nullptr;
    uint32_t* counters_ = nullptr;
    int64_t num_counters_ = 0;
};

}  // namespace wb
