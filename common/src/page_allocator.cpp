#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/page_allocator.h>

#include <algorithm>
#include <string>

namespace wb {

void copy_pages(const PagedCache& cache,
                const std::vector<PageCopy>& copies,
                cudaStream_t stream) {
    const std::size_t bytes =
        static_cast<std::size_t>(cache.row(1, 0, 0)) * sizeof(__nv_bfloat16);
    for (const PageCopy& copy : copies) {
        for (__nv_bfloat16* const pool : {cache.k, cache.v}) {
            CUDA_CHECK(cudaMemcpyAsync(pool + cache.row(copy.to, 0, 0),
                                       pool + cache.row(copy.from, 0, 0),
                                       bytes,
                                       cudaMemcpyDeviceToDevice,
                                       stream));
        }
    }
}

PageAllocator::PageAllocator(int64_t num_pages,
                             int64_t page_size,
                             int64_t max_sequences,
                             int64_t pages_per_sequence)
    : page_size_(page_size), pages_per_sequence_(pages_per_sequence) {
    const Arguments arguments("PageAllocator");
    arguments.positive("num_pages", num_pages)
        .positive("page_size", page_size)
        .positive("max_sequences", max_sequences)
        .positive("pages_per_sequence", pages_per_sequence)
        .require(num_pages <= INT32_MAX, "num_pages", num_pages, "must be < 2^31");
    const int64_t entries = arguments.product("max_sequences * pages_per_sequence",
                                              {max_sequences, pages_per_sequence});
    for (int64_t page = num_pages - 1; page >= 0; --page)
        free_.push_back(static_cast<int32_t>(page));  // page 0 is taken first
    owners_.assign(static_cast<std::size_t>(num_pages), 0);
    table_.assign(static_cast<std::size_t>(entries), -1);
    lengths_.assign(static_cast<std::size_t>(max_sequences), 0);
    used_.assign(static_cast<std::size_t>(max_sequences), false);
}

int64_t PageAllocator::add() {
    const auto row = std::find(used_.begin(), used_.end(), false);
    if (row == used_.end())
        throw std::length_error("PageAllocator: all " + std::to_string(used_.size()) +
                                " rows of the block table have a sequence");
    *row = true;
    return row - used_.begin();
}

int64_t PageAllocator::fork(int64_t parent) {
    check(parent);
    const int64_t child = add();
    for (int64_t i = 0; i < pages_of(length(parent)); ++i) {
        const int32_t page = entry(parent, i);
        entry(child, i) = page;
        ++owners_[static_cast<std::size_t>(page)];
    }
    lengths_[static_cast<std::size_t>(child)] =
        lengths_[static_cast<std::size_t>(parent)];
    return child;
}

std::vector<PageCopy> PageAllocator::grow(int64_t sequence, int64_t tokens) {
    check(sequence);
    Arguments("PageAllocator::grow").size("tokens", tokens);
    std::vector<PageCopy> copies;
    if (tokens == 0) return copies;
    const int64_t old_length = length(sequence);
    const int64_t room = pages_per_sequence_ * page_size_ - old_length;
    if (tokens > room)
        throw std::length_error("PageAllocator: sequence " + std::to_string(sequence) +
                                " has room for " + std::to_string(room) +
                                " more tokens in its row, not for " +
                                std::to_string(tokens));
    const int64_t old_pages = pages_of(old_length);
    const int64_t new_pages = pages_of(old_length + tokens);
    const bool copy =
        old_length % page_size_ != 0 && owners(entry(sequence, old_pages - 1)) > 1;
    const int64_t wanted = new_pages - old_pages + (copy ? 1 : 0);
    if (wanted > free_pages())
        throw OutOfPages("PageAllocator: sequence " + std::to_string(sequence) +
                         " needs " + std::to_string(wanted) + " more pages, " +
                         std::to_string(free_pages()) + " are free");
    // Nothing can fail from here on.
    if (copy) {
        int32_t& last = entry(sequence, old_pages - 1);
        const int32_t own = take_page();
        copies.push_back({last, own});
        --owners_[static_cast<std::size_t>(last)];
        last = own;
    }
    for (int64_t i = old_pages; i < new_pages; ++i)
        entry(sequence, i) = take_page();
    lengths_[static_cast<std::size_t>(sequence)] =
        static_cast<int32_t>(old_length + tokens);
    return copies;
}

void PageAllocator::release(int64_t sequence) {
    check(sequence);
    for (int64_t i = 0; i < pages_of(length(sequence)); ++i) {
        int32_t& page = entry(sequence, i);
        if (--owners_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
        page = -1;
    }
    lengths_[static_cast<std::size_t>(sequence)] = 0;
    used_[static_cast<std::size_t>(sequence)] = false;
}

int64_t PageAllocator::length(int64_t sequence) const {
    check(sequence);
    return lengths_[static_cast<std::size_t>(sequence)];
}

int64_t PageAllocator::pages_of(int64_t tokens) const {
    return (tokens + page_size_ - 1) / page_size_;
}

void PageAllocator::check(int64_t sequence) const {
    const bool known = sequence >= 0 && sequence < static_cast<int64_t>(used_.size()) &&
                       used_[static_cast<std::size_t>(sequence)];
    Arguments("PageAllocator")
        .require(known, "sequence", sequence, "must be one that add() or fork() gave");
}

int32_t PageAllocator::take_page() {
    const int32_t page = free_.back();
    free_.pop_back();
    owners_[static_cast<std::size_t>(page)] = 1;
    return page;
}

int32_t& PageAllocator::entry(int64_t sequence, int64_t index) {
    return table_[static_cast<std::size_t>(sequence * pages_per_sequence_ + index)];
}

}  // namespace wb
