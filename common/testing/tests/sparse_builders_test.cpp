// Tests of sparse patterns: builders, blocks, and what is refused.
#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/sparse_builders.h>
#include <wb/testing/catch.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace {

using wb::HostBlocks;
using wb::HostCsr;

/// Whether the pattern has exactly the pairs of a predicate over key and position.
bool has_exactly(const HostCsr& pattern,
                 const std::function<bool(int64_t, int64_t)>& sees) {
    check_pattern(pattern);
    for (int64_t i = 0; i < pattern.queries; ++i) {
        std::vector<int32_t> expected;
        for (int64_t j = 0; j < pattern.keys; ++j) {
            if (sees(j, i + pattern.keys - pattern.queries))
                expected.push_back(static_cast<int32_t>(j));
        }
        const auto row = pattern.indices.begin();
        if (!std::equal(expected.begin(),
                        expected.end(),
                        row + pattern.offsets[static_cast<std::size_t>(i)],
                        row + pattern.offsets[static_cast<std::size_t>(i) + 1])) {
            return false;
        }
    }
    return true;
}

/// The message with which a pattern is refused.
template <class Pattern>
std::string verdict_on(const Pattern& pattern) {
    try {
        check_pattern(pattern);
    } catch (const wb::PatternError& error) {
        return error.what();
    }
    return "accepted";
}

/// What a pattern of blocks says, pair by pair.
HostCsr expand(const HostBlocks& blocks) {
    constexpr auto kRows = std::size_t{wb::BlockPattern::kRows};
    HostCsr csr;
    csr.queries = blocks.queries;
    csr.keys = blocks.keys;
    for (std::size_t i = 0; i < static_cast<std::size_t>(blocks.queries); ++i) {
        const std::size_t row = i / kRows;
        const auto add = [&](int32_t block, uint64_t mask) {
            for (int64_t bit = 0; bit < wb::BlockPattern::kKeys; ++bit) {
                const int64_t key = block * int64_t{wb::BlockPattern::kKeys} + bit;
                if ((mask >> bit & 1) != 0 && key < blocks.keys)
                    csr.indices.push_back(static_cast<int32_t>(key));
            }
        };
        const auto begin = csr.indices.size();
        for (auto at = blocks.full.offsets[row]; at < blocks.full.offsets[row + 1];
             ++at)
            add(blocks.full.blocks[static_cast<std::size_t>(at)], ~uint64_t{0});
        for (auto at = blocks.partial.offsets[row];
             at < blocks.partial.offsets[row + 1];
             ++at) {
            const auto place = static_cast<std::size_t>(at);
            add(blocks.partial.blocks[place], blocks.masks[place * kRows + i % kRows]);
        }
        std::sort(csr.indices.begin() + static_cast<int64_t>(begin), csr.indices.end());
        csr.offsets.push_back(static_cast<int64_t>(csr.indices.size()));
    }
    return csr;
}

}  // namespace

TEST_CASE("sparse patterns have the pairs that their names promise") {
    struct Sizes {
        int64_t queries;
        int64_t keys;
    };
    for (const auto [n, m] : {Sizes{1, 1}, Sizes{33, 33}, Sizes{5, 40}, Sizes{9, 3}}) {
        CHECK(has_exactly(wb::dense_pattern(n, m, false),
                          [](int64_t, int64_t) { return true; }));
        CHECK(has_exactly(wb::dense_pattern(n, m, true),
                          [](int64_t j, int64_t p) { return j <= p; }));
        CHECK(has_exactly(wb::local_pattern(n, m, 4, 2), [](int64_t j, int64_t p) {
            return p - j <= 4 && j - p <= 2;
        }));
        CHECK(has_exactly(wb::window_with_sinks(n, m, 5, 3), [](int64_t j, int64_t p) {
            return j <= p && (p - j < 5 || j < 3);
        }));
        CHECK(has_exactly(wb::strided_pattern(n, m, 4), [](int64_t j, int64_t p) {
            return j <= p && (p - j < 4 || (p - j) % 4 == 0);
        }));
        CHECK(has_exactly(wb::hierarchical_pattern(n, m, 3), [](int64_t j, int64_t p) {
            if (j > p) return false;
            if (p - j < 3) return true;
            if (p - j < 9) return j % 2 == 0;
            if (p - j < 21) return j % 4 == 0;
            return j % 8 == 0;
        }));
    }
}

TEST_CASE("random patterns have as many different keys as were asked for") {
    const auto pattern = wb::random_pattern(50, 40, 7, 1);
    check_pattern(pattern);
    for (std::size_t i = 0; i < 50; ++i) {
        const auto begin = pattern.indices.begin() + pattern.offsets[i];
        CHECK(pattern.offsets[i + 1] - pattern.offsets[i] == 7);
        CHECK(std::adjacent_find(begin, begin + 7, std::greater_equal<>()) ==
              begin + 7);
    }
    CHECK(pattern.indices != wb::random_pattern(50, 40, 7, 2).indices);
    CHECK(pattern.indices == wb::random_pattern(50, 40, 7, 1).indices);
    CHECK(wb::random_pattern(2, 3, 7, 1).indices ==
          std::vector<int32_t>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("blocks say what the rows say") {
    for (const auto& pattern : {wb::dense_pattern(200, 150, true),
                                wb::local_pattern(300, 300, 70, 9),
                                wb::random_pattern(129, 65, 13, 1),
                                wb::block_sparse_pattern(300, 200, 0.5, 1),
                                wb::random_pattern(3, 0, 1, 1)}) {
        const HostBlocks blocks = to_blocks(pattern);
        check_pattern(blocks);
        const HostCsr again = expand(blocks);
        CHECK(again.offsets == pattern.offsets);
        CHECK(again.indices == pattern.indices);
    }
}

TEST_CASE("a block is full when all that exists of it is seen") {
    const auto dense = to_blocks(wb::dense_pattern(130, 65, false));
    CHECK(dense.full.blocks == std::vector<int32_t>{0, 1, 0, 1});
    CHECK(dense.partial.blocks.empty());
    const auto random = to_blocks(wb::block_sparse_pattern(300, 500, 0.5, 3));
    CHECK(random.partial.blocks.empty());
    const auto causal = to_blocks(wb::dense_pattern(256, 256, true));
    CHECK(causal.full.offsets == std::vector<int64_t>{0, 0, 2});
    CHECK(causal.partial.blocks == std::vector<int32_t>{0, 1, 2, 3});
    CHECK(causal.order == std::vector<int32_t>{1, 0});
}

TEST_CASE("wrong sparse patterns are refused by name") {
    const HostCsr good = wb::local_pattern(3, 4, 1, 0);  // 0 2 4 6
    CHECK(verdict_on(good) == "accepted");
    const auto refused = [&](const std::function<void(HostCsr&)>& spoil) {
        HostCsr wrong = good;
        spoil(wrong);
        return verdict_on(wrong);
    };
    CHECK(refused([](HostCsr& p) { p.offsets.pop_back(); }) ==
          "sparse pattern: offsets has 3 elements, but must have 4");
    CHECK(refused([](HostCsr& p) { p.offsets[0] = 1; }) ==
          "sparse pattern: offsets[0] is 1, but must be 0");
    CHECK(refused([](HostCsr& p) { p.offsets[2] = 1; }) ==
          "sparse pattern: offsets[2] is 1, less than the 2 before it");
    CHECK(refused([](HostCsr& p) { p.offsets[3] = 7; }) ==
          "sparse pattern: offsets ends with 7, but the list has 6 elements");
    CHECK(refused([](HostCsr& p) { p.indices[4] = 4; }) ==
          "sparse pattern: indices[4], of row 2, is 4, but must be in [0, 4)");
    CHECK(refused([](HostCsr& p) { p.indices[0] = -1; }) ==
          "sparse pattern: indices[0], of row 0, is -1, but must be in [0, 4)");
    CHECK(refused([](HostCsr& p) { std::swap(p.indices[0], p.indices[1]); }) ==
          "accepted");
    CHECK(refused([](HostCsr& p) { p.indices[1] = p.indices[0]; }) == "accepted");
}

TEST_CASE("wrong patterns of blocks are refused by name") {
    const HostBlocks good = to_blocks(wb::dense_pattern(200, 100, true));
    const auto refused = [&](const std::function<void(HostBlocks&)>& spoil) {
        HostBlocks wrong = good;
        spoil(wrong);
        return verdict_on(wrong);
    };
    CHECK(verdict_on(good) == "accepted");
    CHECK(refused([](HostBlocks& p) { p.partial.blocks[0] = 2; }) ==
          "sparse pattern: partial.blocks[0], of row 0, is 2, but must be in [0, 2)");
    CHECK(refused([](HostBlocks& p) { p.full.offsets[1] = -1; }) ==
          "sparse pattern: full.offsets[1] is -1, less than the 0 before it");
    CHECK(refused([](HostBlocks& p) { p.masks.pop_back(); }) ==
          "sparse pattern: masks has 383 words, but must have 384");
    CHECK(refused([](HostBlocks& p) { p.order[0] = p.order[1]; }) ==
          "sparse pattern: order is no permutation");
    HostCsr twice = wb::local_pattern(3, 4, 1, 0);
    twice.indices[5] = twice.indices[4];
    CHECK_THROWS_WITH(to_blocks(twice),
                      "sparse pattern: row 2 lists key 2 twice: blocks cannot");
}

TEST_CASE("a fault in a pattern's status is thrown once, and names the row") {
    const wb::PatternCheck check;
    const auto note = [&](wb::PatternFault fault) {
        const wb::PatternStatus status = {static_cast<int32_t>(fault), 3, 17, -4};
        CUDA_CHECK(
            cudaMemcpy(check.status(), &status, sizeof status, cudaMemcpyHostToDevice));
    };
    check.check(nullptr);
    note(wb::PatternFault::index);
    CHECK_THROWS_WITH(check.check(nullptr),
                      "sparse pattern: row 3: indices[17] is -4, which does not exist");
    check.check(nullptr);
    note(wb::PatternFault::offsets);
    CHECK_THROWS_WITH(
        check.check(nullptr),
        "sparse pattern: row 3: its offsets, 17 and -4, are no range of the list");
    note(wb::PatternFault::order);
    CHECK_THROWS_WITH(check.check(nullptr),
                      "sparse pattern: order[3] is -4, which is no row of blocks");
}
