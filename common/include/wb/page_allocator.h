/// wb/page_allocator.h: which page belongs to which sequence, kept on the host.
///
///     wb::PageAllocator pages(num_pages, page_size, sequences, pages_per_sequence);
///     const int64_t prompt = pages.add();
///     pages.grow(prompt, 100);                 // room for 100 tokens
///     const int64_t answer = pages.fork(prompt);   // shares them: nothing is copied
///     wb::copy_pages(cache, pages.grow(answer, 1), stream);
///
/// Memory is never fragmented: any free page is as good as any other, and a sequence
/// wastes less than one page. Sequences with a common beginning share its pages; each
/// page counts its owners. Who writes into a page that others own, too, gets a copy of
/// it first (copy on write).
#pragma once

#include <wb/paged_cache.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace wb {

/// There are not enough free pages. Nothing has been changed.
class OutOfPages : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A page whose tokens have to be copied before anything is appended.
struct PageCopy {
    int32_t from;
    int32_t to;
};

/// Copies pages of k and v on the device, in the order of the stream.
void copy_pages(const PagedCache& cache,
                const std::vector<PageCopy>& copies,
                cudaStream_t stream);

/// The book-keeping of a PagedCache. Sequences are rows of its block table. A row
/// without a sequence has length 0.
class PageAllocator {
 public:
    /// All are > 0. At the start all pages are free, and there is no sequence.
    PageAllocator(int64_t num_pages,
                  int64_t page_size,
                  int64_t max_sequences,
                  int64_t pages_per_sequence);

    /// A new, empty sequence: the lowest row that has none.
    /// Throws std::length_error if all rows are taken.
    int64_t add();

    /// A new sequence with the same tokens, which shares all pages of `parent`.
    /// Throws std::length_error if all rows are taken.
    int64_t fork(int64_t parent);

    /// Makes room for `tokens` more tokens, at positions length() and following.
    ///
    /// Returns the copies to make before they are written: one if the last page is
    /// shared and not full, otherwise none.
    /// Throws wb::OutOfPages if the pool has too few free pages, std::length_error if
    /// the table's row is too short. Either way nothing has been changed.
    std::vector<PageCopy> grow(int64_t sequence, int64_t tokens);

    /// Ends a sequence. Its pages are free as soon as nobody shares them.
    void release(int64_t sequence);

    /// Tokens of a sequence.
    int64_t length(int64_t sequence) const;
    /// Pages that nobody owns.
    int64_t free_pages() const { return static_cast<int64_t>(free_.size()); }
    /// How many sequences own a page.
    int64_t owners(int64_t page) const { return owners_.at(static_cast<size_t>(page)); }

    /// [max_sequences, pages_per_sequence], to be copied to the device; -1 where there
    /// is no page.
    const std::vector<int32_t>& block_table() const { return table_; }
    /// [max_sequences], to be copied to the device.
    const std::vector<int32_t>& lengths() const { return lengths_; }

 private:
    int64_t pages_of(int64_t tokens) const;
    void check(int64_t sequence) const;
    int32_t take_page();
    int32_t& entry(int64_t sequence, int64_t index);

    int64_t page_size_;
    int64_t pages_per_sequence_;
    std::vector<int32_t> free_;     // a stack: the page freed last is used first
    std::vector<int32_t> owners_;   // [num_pages]
    std::vector<int32_t> table_;    // [max_sequences, pages_per_sequence]
    std::vector<int32_t> lengths_;  // [max_sequences]
    std::vector<bool> used_;        // [max_sequences] rows that have a sequence
};

}  // namespace wb
