// What wb::PageAllocator and wb::copy_pages leave behind after each step of some
// scripts, the tokens in device memory included: what the figure "paged-cache" must
// show.
#include <cuda_runtime.h>
#include <json.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/page_allocator.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

truth::Json json;

/// One operation of a script.
struct Step {
    const char* what;   ///< "add", "fork", "append" or "release"
    int sequence = -1;  ///< of which one; add: of none
    int tokens = 0;     ///< append: how many
};

/// A cache whose rows hold one number: the token, or -1 where nothing was written yet.
class Pool {
 public:
    Pool(int num_pages, int page_size) {
        cache_.num_pages = num_pages;
        cache_.page_size = page_size;
        cache_.kv_heads = 1;
        cache_.head_dim = 1;
        const std::vector<__nv_bfloat16> nothing(elements(), __nv_bfloat16(-1.0f));
        for (__nv_bfloat16** pool : {&cache_.k, &cache_.v}) {
            CUDA_CHECK(cudaMalloc(pool, bytes()));
            CUDA_CHECK(
                cudaMemcpy(*pool, nothing.data(), bytes(), cudaMemcpyHostToDevice));
        }
    }
    ~Pool() {
        cudaFree(cache_.k);
        cudaFree(cache_.v);
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    void copy(const std::vector<wb::PageCopy>& copies) {
        wb::copy_pages(cache_, copies, nullptr);
    }
    void write(int64_t page, int64_t slot, int token) {
        const __nv_bfloat16 number(static_cast<float>(token));
        CUDA_CHECK(cudaMemcpy(cache_.k + cache_.row(page, 0, slot),
                              &number,
                              sizeof number,
                              cudaMemcpyHostToDevice));
    }
    std::vector<int> tokens() const {
        std::vector<__nv_bfloat16> numbers(elements());
        CUDA_CHECK(
            cudaMemcpy(numbers.data(), cache_.k, bytes(), cudaMemcpyDeviceToHost));
        std::vector<int> tokens;
        for (const __nv_bfloat16 number : numbers)
            tokens.push_back(static_cast<int>(static_cast<float>(number)));
        return tokens;
    }

 private:
    std::size_t elements() const { return static_cast<std::size_t>(cache_.elements()); }
    std::size_t bytes() const { return elements() * sizeof(__nv_bfloat16); }

    wb::PagedCache cache_;
};

/// Runs scripts on an allocator and a pool, and prints the state after each step.
class Script {
 public:
    Script(const char* name, int pages, int page_size, int sequences, int row)
        : pool_(pages, page_size),
          allocator_(pages, page_size, sequences, row),
          pages_(pages),
          page_size_(page_size),
          row_(row) {
        json.open('{').member("name", name);
        json.key("sizes").list(std::vector<int>{pages, page_size, sequences, row});
        json.key("steps").open('[');
    }
    ~Script() { json.close(']').close('}'); }

    void run(const Step& step) {
        json.open('{').member("do", step.what);
        if (step.sequence >= 0) json.member("sequence", step.sequence);
        if (step.tokens > 0) json.member("tokens", step.tokens);
        copies_.clear();
        const std::string error = attempt(step);
        json.member("error", error.c_str());
        print_state();
        json.close('}');
        ++number_;
    }

 private:
    std::string attempt(const Step& step) {
        try {
            apply(step);
        } catch (const wb::OutOfPages&) {
            return "out_of_pages";
        } catch (const std::length_error&) {
            return "length_error";
        } catch (const wb::InvalidArgument&) {
            return "invalid_argument";
        }
        return "none";
    }

    void apply(const Step& step) {
        const std::string what = step.what;
        if (what == "add") {
            json.member("result", allocator_.add());
        } else if (what == "fork") {
            json.member("result", allocator_.fork(step.sequence));
        } else if (what == "release") {
            allocator_.release(step.sequence);
        } else {
            const int64_t first = allocator_.length(step.sequence);
            copies_ = allocator_.grow(step.sequence, step.tokens);
            pool_.copy(copies_);
            for (int64_t t = first; t < allocator_.length(step.sequence); ++t) {
                const auto entry = step.sequence * row_ + t / page_size_;
                const int32_t page =
                    allocator_.block_table()[static_cast<std::size_t>(entry)];
                pool_.write(page, t % page_size_, token(t));
            }
        }
    }

    /// What a step writes at a position; kept below 256, which bfloat16 holds exactly.
    int token(int64_t position) const {
        return static_cast<int>((number_ * 16 + position) % 256);
    }

    void print_state() {
        std::vector<int32_t> copies;
        for (const wb::PageCopy& copy : copies_) {
            copies.push_back(copy.from);
            copies.push_back(copy.to);
        }
        std::vector<int64_t> owners;
        for (int64_t page = 0; page < pages_; ++page)
            owners.push_back(allocator_.owners(page));
        json.key("copies").list(copies);
        json.member("free", allocator_.free_pages());
        json.key("owners").list(owners);
        json.key("lengths").list(allocator_.lengths());
        json.key("table").list(allocator_.block_table());
        json.key("slots").list(pool_.tokens());
    }

    Pool pool_;
    wb::PageAllocator allocator_;
    int pages_;
    int page_size_;
    int row_;
    int number_ = 0;
    std::vector<wb::PageCopy> copies_;
};

/// A prompt with two answers, an end, and a cache that is too small for a while.
void conversation() {
    Script script("conversation", 8, 4, 3, 5);
    for (const Step& step : {Step{"add"},
                             Step{"append", 0, 6},
                             Step{"fork", 0},
                             Step{"append", 1, 1},
                             Step{"append", 0, 4},
                             Step{"fork", 0},
                             Step{"fork", 0},
                             Step{"append", 2, 7},
                             Step{"append", 1, 8},
                             Step{"append", 0, 8},
                             Step{"append", 1, 20},
                             Step{"release", 2},
                             Step{"release", 2},
                             Step{"append", 0, 8},
                             Step{"add"},
                             Step{"append", 2, 3}}) {
        script.run(step);
    }
}

/// Forks at a page's end share it for ever; a page with one owner left is not copied.
void page_ends() {
    Script script("page ends", 10, 2, 4, 4);
    for (const Step& step : {Step{"add"},
                             Step{"append", 0, 4},
                             Step{"fork", 0},
                             Step{"append", 1, 1},
                             Step{"fork", 1},
                             Step{"fork", 1},
                             Step{"append", 3, 1},
                             Step{"append", 2, 2},
                             Step{"release", 3},
                             Step{"append", 1, 1},
                             Step{"release", 0},
                             Step{"release", 1},
                             Step{"add"},
                             Step{"append", 0, 8},
                             Step{"append", 0, 1},
                             Step{"release", 2}}) {
        script.run(step);
    }
}

/// Where rows begin in a cache of 8 K/V heads.
void rows() {
    wb::PagedCache cache;
    cache.kv_heads = 8;
    cache.page_size = 16;
    cache.head_dim = 128;
    json.key("rows").open('{').key("sizes").open('{');
    json.member("kvHeads", cache.kv_heads);
    json.member("pageSize", cache.page_size);
    json.member("headDim", cache.head_dim).close('}');
    json.key("at").open('[');
    for (const auto& [page, head, slot] : {std::array<int64_t, 3>{0, 0, 0},
                                           std::array<int64_t, 3>{0, 0, 15},
                                           std::array<int64_t, 3>{0, 7, 3},
                                           std::array<int64_t, 3>{5, 2, 9},
                                           std::array<int64_t, 3>{8191, 7, 15}}) {
        json.list(std::vector<int64_t>{page, head, slot, cache.row(page, head, slot)});
    }
    json.close(']').close('}');
}

}  // namespace

int main() {
    json.open('{').key("scripts").open('[');
    conversation();
    page_ends();
    json.close(']');
    rows();
    json.close('}').print();
}
