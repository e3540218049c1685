#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/page_allocator.h>
#include <wb/testing/catch.h>
#include <wb/testing/random.h>

#include <map>

namespace {

/// An allocator, and beside it what each page and each sequence ought to hold.
struct Model {
    wb::PageAllocator pages;
    int64_t page_size;
    int64_t pages_per_sequence;
    std::vector<std::vector<int>> pool;            // tokens in the pages
    std::map<int64_t, std::vector<int>> expected;  // tokens of the sequences

    Model(int64_t num_pages, int64_t size, int64_t sequences, int64_t per_sequence)
        : pages(num_pages, size, sequences, per_sequence),
          page_size(size),
          pages_per_sequence(per_sequence),
          pool(static_cast<size_t>(num_pages),
               std::vector<int>(static_cast<size_t>(size), -1)) {}

    int& slot(int64_t sequence, int64_t position) {
        const int32_t page = pages.block_table()[static_cast<size_t>(
            sequence * pages_per_sequence + position / page_size)];
        return pool.at(
            static_cast<size_t>(page))[static_cast<size_t>(position % page_size)];
    }

    /// grow(), the copies, and the append, as a server would do it.
    void append(int64_t sequence, int64_t tokens, int first) {
        const int64_t length = pages.length(sequence);
        for (const auto& copy : pages.grow(sequence, tokens))
            pool[static_cast<size_t>(copy.to)] = pool[static_cast<size_t>(copy.from)];
        for (int i = 0; i < tokens; ++i) {
            slot(sequence, length + i) = first + i;
            expected[sequence].push_back(first + i);
        }
    }

    /// Whether every sequence reads its own tokens, and every page counts its owners.
    void check() {
        std::vector<int64_t> owners(pool.size(), 0);
        for (const auto& [sequence, tokens] : expected) {
            REQUIRE(pages.length(sequence) == static_cast<int64_t>(tokens.size()));
            for (size_t i = 0; i < tokens.size(); ++i)
                REQUIRE(slot(sequence, static_cast<int64_t>(i)) == tokens[i]);
        }
        for (const int32_t page : pages.block_table())
            if (page >= 0) ++owners.at(static_cast<size_t>(page));
        int64_t unowned = 0;
        for (size_t page = 0; page < pool.size(); ++page) {
            REQUIRE(pages.owners(static_cast<int64_t>(page)) == owners[page]);
            unowned += owners[page] == 0;
        }
        REQUIRE(pages.free_pages() == unowned);
    }
};

}  // namespace

TEST_CASE("pages are taken when the first token needs them, and given back") {
    wb::PageAllocator pages(4, 16, 2, 4);
    const int64_t a = pages.add();
    REQUIRE(a == 0);
    REQUIRE(pages.free_pages() == 4);
    REQUIRE(pages.grow(a, 16).empty());
    REQUIRE(pages.free_pages() == 3);
    REQUIRE(pages.grow(a, 1).empty());
    REQUIRE(pages.free_pages() == 2);
    REQUIRE(pages.block_table() == std::vector<int32_t>{0, 1, -1, -1, -1, -1, -1, -1});
    REQUIRE(pages.lengths() == std::vector<int32_t>{17, 0});
    pages.release(a);
    REQUIRE(pages.free_pages() == 4);
    REQUIRE(pages.block_table() == std::vector<int32_t>(8, -1));
    REQUIRE(pages.lengths() == std::vector<int32_t>{0, 0});
}

TEST_CASE("a fork shares all pages, and the first to append copies the last one") {
    Model model(4, 4, 3, 4);
    const int64_t parent = model.pages.add();
    model.append(parent, 6, 100);
    const int64_t child = model.pages.fork(parent);
    model.expected[child] = model.expected[parent];
    REQUIRE(model.pages.free_pages() == 2);
    REQUIRE(model.pages.owners(0) == 2);
    REQUIRE(model.pages.owners(1) == 2);
    model.append(child, 1, 200);
    REQUIRE(model.pages.free_pages() == 1);
    REQUIRE(model.pages.owners(0) == 2);
    REQUIRE(model.pages.owners(1) == 1);
    model.append(parent, 1, 300);  // is the only owner now: no copy
    REQUIRE(model.pages.free_pages() == 1);
    model.check();
    model.pages.release(parent);
    model.expected.erase(parent);
    REQUIRE(model.pages.free_pages() == 2);  // the first page is still shared
    model.check();
}

TEST_CASE("a full last page is shared without a copy") {
    wb::PageAllocator pages(3, 4, 2, 2);
    const int64_t parent = pages.add();
    pages.grow(parent, 4);
    const int64_t child = pages.fork(parent);
    REQUIRE(pages.grow(child, 1).empty());
    REQUIRE(pages.owners(0) == 2);
    REQUIRE(pages.free_pages() == 1);
}

TEST_CASE("running out of pages changes nothing") {
    Model model(3, 4, 3, 4);
    const int64_t a = model.pages.add();
    model.append(a, 6, 100);
    const int64_t b = model.pages.fork(a);
    model.expected[b] = model.expected[a];
    model.append(b, 1, 200);  // the last free page
    const auto table = model.pages.block_table();
    const auto lengths = model.pages.lengths();
    REQUIRE_THROWS_AS(model.pages.grow(a, 3), wb::OutOfPages);
    REQUIRE(model.pages.block_table() == table);
    REQUIRE(model.pages.lengths() == lengths);
    model.append(a, 2, 300);  // what there is room for can still be had
    const int64_t c = model.pages.fork(b);
    model.expected[c] = model.expected[b];
    REQUIRE_THROWS_AS(model.pages.grow(c, 1), wb::OutOfPages);  // no page for a copy
    model.check();
    model.pages.release(a);
    model.expected.erase(a);
    model.append(c, 1, 400);
    model.check();
}

TEST_CASE("a row that is too short, and rows that are all taken, are errors") {
    wb::PageAllocator pages(8, 4, 1, 2);
    const int64_t a = pages.add();
    REQUIRE_THROWS_AS(pages.grow(a, 9), std::length_error);
    REQUIRE(pages.free_pages() == 8);
    pages.grow(a, 8);
    REQUIRE_THROWS_AS(pages.add(), std::length_error);
    REQUIRE_THROWS_AS(pages.fork(a), std::length_error);
    REQUIRE(pages.owners(0) == 1);
    REQUIRE_THROWS_AS(pages.grow(1, 1), wb::InvalidArgument);
    REQUIRE_THROWS_AS(pages.grow(a, -1), wb::InvalidArgument);
    pages.release(a);
    REQUIRE_THROWS_AS(pages.release(a), wb::InvalidArgument);
    REQUIRE_THROWS_AS(wb::PageAllocator(0, 4, 1, 2), wb::InvalidArgument);
}

TEST_CASE("thousands of random operations lose no page and no token") {
    const auto seed = GENERATE(as<uint64_t>(), 1, 2, 3);
    wb::testing::Random random(seed);
    Model model(24, 4, 6, 8);
    int token = 0;
    int refused = 0;
    for (int step = 0; step < 2000; ++step) {
        const int64_t sequence = random.below(6);
        const bool known = model.expected.count(sequence) != 0;
        switch (random.below(5)) {
            case 0:
                if (model.expected.size() < 6) model.expected[model.pages.add()];
                break;
            case 1:
                if (known && model.expected.size() < 6) {
                    const int64_t child = model.pages.fork(sequence);
                    model.expected[child] = model.expected[sequence];
                }
                break;
            case 2:
                if (known && random.below(3) == 0) {
                    model.pages.release(sequence);
                    model.expected.erase(sequence);
                }
                break;
            default:
                if (!known) break;
                try {
                    model.append(sequence, 1 + random.below(6), token += 10);
                } catch (const wb::OutOfPages&) {
                    ++refused;
                } catch (const std::length_error&) {
                    ++refused;
                }
        }
        if (step % 20 == 0) model.check();
    }
    model.check();
    REQUIRE(refused > 0);
}

TEST_CASE("pages are copied in k and in v, and no others") {
    wb::PagedCache cache;
    cache.num_pages = 3;
    cache.kv_heads = 2;
    cache.page_size = 16;
    cache.head_dim = 64;
    const auto count = static_cast<size_t>(cache.elements());
    const size_t bytes = count * sizeof(__nv_bfloat16);
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&cache.k), bytes));
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&cache.v), bytes));
    std::vector<uint16_t> k(count);
    std::vector<uint16_t> v(count);
    for (size_t i = 0; i < count; ++i) {
        k[i] = static_cast<uint16_t>(i);
        v[i] = static_cast<uint16_t>(i + 30'000);
    }
    CUDA_CHECK(cudaMemcpy(cache.k, k.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(cache.v, v.data(), bytes, cudaMemcpyHostToDevice));
    wb::copy_pages(cache, {{0, 2}}, nullptr);
    const auto page = static_cast<std::ptrdiff_t>(cache.row(1, 0, 0));
    std::copy(k.begin(), k.begin() + page, k.begin() + 2 * page);
    std::copy(v.begin(), v.begin() + page, v.begin() + 2 * page);
    std::vector<uint16_t> got(count);
    CUDA_CHECK(cudaMemcpy(got.data(), cache.k, bytes, cudaMemcpyDeviceToHost));
    REQUIRE(got == k);
    CUDA_CHECK(cudaMemcpy(got.data(), cache.v, bytes, cudaMemcpyDeviceToHost));
    REQUIRE(got == v);
    CUDA_CHECK(cudaFree(cache.k));
    CUDA_CHECK(cudaFree(cache.v));
}

TEST_CASE("rows of a cache of more than 2^31 numbers are found in 64 bits") {
    wb::PagedCache cache;
    cache.num_pages = 1 << 21;
    cache.kv_heads = 8;
    cache.page_size = 16;
    cache.head_dim = 128;
    REQUIRE(cache.elements() == int64_t{1} << 35);
    REQUIRE(cache.row((1 << 21) - 1, 7, 15) == (int64_t{1} << 35) - 128);
    REQUIRE(cache.row(1 << 20, 3, 5) == (int64_t{1} << 34) + (3 * 16 + 5) * 128);
    cache.pages_per_sequence = 1 << 26;
    REQUIRE(cache.capacity() == int64_t{1} << 30);
}
