// Tests v7 of Hopper attention, over the blocks of a pattern: more of everything than
// numbers of 8, 16, 31 or 32 bits hold. What is listed is there; the rest is memory
// that nobody ever touches.
#include "sparse_grading.h"

#include <wb/testing/attention_sizes.h>
#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace sparse_grading;

namespace {

/// Device memory that is not set, or null if it is not to be had.
template <class Element>
class Untouched {
 public:
    explicit Untouched(int64_t count) {
        void* memory = nullptr;
        const auto bytes = static_cast<size_t>(count) * sizeof(Element);
        if (cudaMalloc(&memory, bytes) != cudaSuccess) {
            (void)cudaGetLastError();
            return;
        }
        memory_ = static_cast<Element*>(memory);
    }
    ~Untouched() { (void)cudaFree(memory_); }
    Untouched(const Untouched&) = delete;
    Untouched& operator=(const Untouched&) = delete;

    Element* data() const { return memory_; }
    void set(int64_t first, const std::vector<Element>& values) const {
        CUDA_CHECK(cudaMemcpy(memory_ + first,
                              values.data(),
                              values.size() * sizeof(Element),
                              cudaMemcpyHostToDevice));
    }

 private:
    Element* memory_ = nullptr;
};

}  // namespace

TEST_CASE("blocks: more rows of blocks than a byte counts") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of fewer
    std::vector<std::vector<int32_t>> rows(257 * 128 + 3);
    for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = {static_cast<int32_t>(i / 128 % 61)};
    const auto pattern = rows_of(70, rows);
    HostBlocks blocks = to_blocks(pattern);
    const int64_t place = blocks.full.offsets.back()++;
    blocks.full.blocks.push_back(2);  // there are 2
    const auto shape = shape_of(pattern, 64);
    grade(shape,
          pattern,
          blocks,
          random_attention(shape, 1),
          "a key for each row of blocks",
          {static_cast<int32_t>(PatternFault::index), 257, place, 2});
}

TEST_CASE("blocks: a list of more than 2048 blocks") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of shorter lists
    // Of the first block and of the last one a key weighs more than all between.
    constexpr int32_t kTimes = 2050;
    const auto once = wb::dense_pattern(1, 131, false);
    HostBlocks blocks = to_blocks(once);
    blocks.full.blocks.assign(kTimes, 2);
    blocks.full.blocks.front() = 0;
    blocks.full.blocks.back() = 1;
    blocks.full.offsets = {0, kTimes};
    std::vector<int32_t> keys(128);
    std::iota(keys.begin(), keys.end(), 0);
    for (int32_t i = 0; i < 3 * (kTimes - 2); ++i)
        keys.push_back(128 + i % 3);
    for (const size_t D : {64, 128}) {
        const auto shape = shape_of(once, static_cast<int64_t>(D));
        auto inputs = random_attention(shape, 1);
        inputs.q[3] = 8.0f;
        for (size_t key = 0; key < 131; ++key)
            inputs.k[key * D + 3] = key == 5 || key == 70 ? 16.0f : 0.0f;
        grade(shape, rows_of(131, {keys}), blocks, inputs, "block 2 2048 times");
    }
}

namespace {

/// Two blocks of keys, of which one begins at element 2^31, of two heads or sequences.
void grade_far_keys(int64_t D) {
    const int64_t far_key = (int64_t{1} << 31) / D;
    const int64_t num_keys = far_key + 64;
    const auto near = rows_of(128, {{0, 64}, {65, 127}, {3, 66, 1}});
    HostCsr far = near;
    far.keys = num_keys;
    for (int32_t& key : far.indices)
        if (key >= 64) key += static_cast<int32_t>(far_key) - 64;
    const Untouched<T> kv(2 * num_keys * D);
    if (kv.data() == nullptr) WB_SKIP("8.6 GB of device memory are not to be had");
    for (const int64_t batch : {1, 2}) {
        const auto of_near = shape_of(near, D, batch, 2 / batch);
        auto inputs = as_stored<T>(random_attention(of_near, 1));
        inputs.v = inputs.k;
        const std::vector<T> rows = rounded<T>(inputs.k);
        for (const int64_t half : {0, 1, 2, 3}) {
            const auto first = rows.begin() + half * 64 * D;
            const int64_t key = half / 2 * num_keys + half % 2 * far_key;
            kv.set(key * D, {first, first + 64 * D});
        }
        const wb::PatternCheck check;
        Grader grader("hopper_block_sparse_attention", "two blocks of keys");
        const BlockPattern pattern = upload(grader, to_blocks(far));
        const T* q = grader.input("q", rounded<T>(inputs.q));
        T* o = grader.output<T>("o", {2, 3, D});
        float* lse = grader.output<float>("lse", {2, 3});
        grader.only_read("k and v", kv.data(), 2 * num_keys * D);
        auto shape = of_near;
        shape.keys = num_keys;
        grader.run([&](cudaStream_t stream) {
            hopper_block_sparse_attention(shape,
                                          pattern,
                                          q,
                                          kv.data(),
                                          kv.data(),
                                          o,
                                          lse,
                                          check.status(),
                                          stream);
        });
        expect_both(grader, expect_listed(of_near, near, inputs));
        check.check(nullptr);
    }
}

/// A call on the last two rows alone, which begin at element 2^31 of o: `order` names
/// no other row of blocks.
void grade_far_rows(int64_t D) {
    const int64_t far_row = (int64_t{1} << 31) / D;
    const int64_t block_rows = far_row / kRows + 1;
    const auto near = rows_of(5, {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}});
    const auto of_near = shape_of(near, D);
    const auto inputs = as_stored<T>(random_attention(of_near, 1));
    const auto expected = expect_listed(of_near, near, inputs);
    HostBlocks blocks;
    blocks.full = {std::vector<int64_t>(static_cast<size_t>(block_rows + 1)), {0}};
    blocks.full.offsets.back() = 1;
    blocks.partial = {std::vector<int64_t>(static_cast<size_t>(block_rows + 1)), {}};
    blocks.order.assign(static_cast<size_t>(block_rows), -1);
    blocks.order[static_cast<size_t>(block_rows / 2)] =
        static_cast<int32_t>(block_rows - 1);

    const Untouched<T> q((far_row + 2) * D);
    const Untouched<T> o((far_row + 2) * D);
    const Untouched<float> lse(far_row + 2);
    if (q.data() == nullptr || o.data() == nullptr || lse.data() == nullptr)
        WB_SKIP("8.7 GB of device memory are not to be had");
    q.set(far_row * D, rounded<T>(inputs.q));
    const auto shape = plain_attention(1, 1, far_row + 2, 5, D);
    const wb::PatternCheck check;
    Grader grader("hopper_block_sparse_attention", "the last two rows");
    const BlockPattern pattern = upload(grader, blocks);
    const T* k = grader.input("k", rounded<T>(inputs.k));
    const T* v = grader.input("v", rounded<T>(inputs.v));
    T* last_o = grader.output<T>("o", {2, D});
    float* last_lse = grader.output<float>("lse", {2});
    grader.run([&](cudaStream_t stream) {
        hopper_block_sparse_attention(shape,
                                      pattern,
                                      q.data(),
                                      k,
                                      v,
                                      o.data(),
                                      lse.data(),
                                      check.status(),
                                      stream);
        const auto copy = [&](auto* to, const auto* from, size_t count) {
            CUDA_CHECK(cudaMemcpyAsync(
                to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, stream));
        };
        copy(last_o, o.data() + far_row * D, static_cast<size_t>(2 * D));
        copy(last_lse, lse.data() + far_row, 2);
    });
    expect_both(grader, expected);
    // Any of the skipped ones is noted.
    PatternStatus found;
    CUDA_CHECK(
        cudaMemcpy(&found, check.status(), sizeof found, cudaMemcpyDeviceToHost));
    REQUIRE(found.fault == static_cast<int32_t>(PatternFault::order));
    REQUIRE(found.place >= 0);
    REQUIRE(found.place < block_rows);
    REQUIRE(found.row == found.place);
    REQUIRE(found.value == -1);
}

}  // namespace

TEST_CASE(
    "blocks: keys beyond 2^31 elements, and heads and sequences beyond 2^32 bytes") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // the checker has words for each byte
    for (const int64_t D : {64, 128})
        grade_far_keys(D);
}

TEST_CASE("blocks: rows of o beyond 2^31 elements, and of lse behind them") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // the checker has words for each byte
    for (const int64_t D : {64, 128})
        grade_far_rows(D);
}

namespace {

/// A call on lists of which one begins as far behind in its array.
/// @param places  memory for it
/// @param words   memory for the masks, if the partial ones are behind; else null
void grade_far_lists(int64_t D,
                     int64_t first,
                     const Untouched<int32_t>& places,
                     const Untouched<uint64_t>* words) {
    const auto pattern = wb::local_pattern(140, 200, 90, 20);
    const auto shape = shape_of(pattern, D);
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    HostBlocks blocks = to_blocks(pattern);
    wb::HostBlockList& list = words != nullptr ? blocks.partial : blocks.full;
    const int64_t count = first + std::ssize(list.blocks);
    places.set(first, list.blocks);
    if (words != nullptr) words->set(first * kRows, blocks.masks);
    for (int64_t& offset : list.offsets)
        offset += first;
    const wb::PatternCheck check;
    Grader grader("hopper_block_sparse_attention",
                  "lists from place " + std::to_string(first) + " on");
    BlockPattern given = upload(grader, blocks);
    (words != nullptr ? given.partial : given.full).blocks = places.data();
    (words != nullptr ? given.partial : given.full).num_blocks = count;
    if (words != nullptr) given.masks = words->data();
    const T* q = grader.input("q", rounded<T>(inputs.q));
    const T* k = grader.input("k", rounded<T>(inputs.k));
    const T* v = grader.input("v", rounded<T>(inputs.v));
    T* o = grader.output<T>("o", {140, D});
    float* lse = grader.output<float>("lse", {140});
    grader.run([&](cudaStream_t stream) {
        hopper_block_sparse_attention(
            shape, given, q, k, v, o, lse, check.status(), stream);
    });
    expect_both(grader, expect_listed(shape, pattern, inputs));
    check.check(nullptr);
}

}  // namespace

TEST_CASE("blocks: lists that begin beyond place 2^31 of their array") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // the checker has words for each byte
    constexpr int64_t kFirst = (int64_t{1} << 31) + 3;
    const Untouched<int32_t> places(kFirst + 10);
    if (places.data() == nullptr) WB_SKIP("8.6 GB of device memory are not to be had");
    for (const int64_t D : {64, 128})
        grade_far_lists(D, kFirst, places, nullptr);
}

TEST_CASE("blocks: masks beyond word 2^31", "[large]") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // the checker has words for each byte
    constexpr int64_t kFirst = (int64_t{1} << 24) + 3;
    const Untouched<int32_t> places(kFirst + 10);
    const Untouched<uint64_t> words((kFirst + 10) * kRows);
    if (words.data() == nullptr) WB_SKIP("17 GB of device memory are not to be had");
    for (const int64_t D : {64, 128})
        grade_far_lists(D, kFirst, places, &words);
}

TEST_CASE("blocks: more sequences, and more heads, than a grid is high or deep") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of fewer
    // In the simulator a tile takes long: there `order` names none, and o stays.
    constexpr int64_t kMany = 65'539;
    HostBlocks blocks = to_blocks(rows_of(1, {{0}}));
#ifdef SIMT_CPU
    blocks.order = {-1};
#endif
    for (const auto& [heads, D] :
         {std::pair{false, int64_t{64}}, {true, 64}, {false, 128}, {true, 128}}) {
        const std::vector<T> zeros(static_cast<size_t>(kMany * D),
                                   static_cast<T>(0.0f));
        std::vector<T> numbers = zeros;
        for (size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<T>(static_cast<float>(i / 128 % 101 + i % 64));
        auto shape = plain_attention(heads ? 1 : kMany, heads ? kMany : 1, 1, 1, D);
        const wb::PatternCheck check;
        Grader grader("hopper_block_sparse_attention", describe(shape));
        const BlockPattern pattern = upload(grader, blocks);
        const T* q = grader.input("q", zeros);
        const T* v = grader.input("v", numbers);
        T* o = grader.in_out<T>("o", {kMany, D}, zeros);
        grader.run([&](cudaStream_t stream) {
            hopper_block_sparse_attention(
                shape, pattern, q, q, v, o, nullptr, check.status(), stream);
        });
        const bool is_there = blocks.order[0] == 0;
        grader.expect(
            "o", as_doubles(is_there ? numbers : zeros), [](int64_t) { return 0.0; });
        if (!is_there) REQUIRE_THROWS_AS(check.check(nullptr), wb::PatternError);
    }
}
