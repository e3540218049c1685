// Tests v7 of Hopper attention, over the blocks of a pattern: calls that have nothing
// in common, calls that have nothing to do, and how much memory a call takes.
#include "any_lists.h"

#include <wb/testing/catch.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace sparse_grading;

TEST_CASE("blocks: nothing is kept from call to call") {
    NEEDS_BLOCKS();
    const auto first = wb::dense_pattern(13, 19, false);
    const auto other = wb::local_pattern(140, 71, 9, 2);      // two rows of blocks
    const auto like_first = wb::local_pattern(13, 19, 5, 2);  // of the same sizes
    expect_independent(
        [&] { grade(shape_of(first, 64, 2), first, "dense"); },
        [&] { grade(shape_of(other, 64), other, "window 9 + 2"); },
        [&] { grade(shape_of(like_first, 64, 2), like_first, "window 5 + 2"); });
}

TEST_CASE("blocks: calls at once, each of more tiles than multiprocessors") {
    NEEDS_BLOCKS();
    // What hands out tiles does so for one call.
    const FewMultiprocessors few(1);
    const int64_t heads = FewMultiprocessors::count() + 2;
    const auto first = wb::dense_pattern(5, 9, false);
    const auto other = wb::local_pattern(7, 71, 9, 2);
    expect_independent(
        [&] { grade(shape_of(first, 64, 1, heads), first, "dense"); },
        [&] { grade(shape_of(other, 64, 1, heads), other, "window 9 + 2"); });
}

TEST_CASE("blocks: the arrays of an earlier call, which was of other sizes") {
    NEEDS_BLOCKS();
    const auto listed = wb::local_pattern(20, 33, 9, 5);
    const auto small = wb::dense_pattern(7, 5, false);
    const auto shape = shape_of(listed, 64, 1, 2);
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    const wb::PatternCheck check;
    Grader grader("hopper_block_sparse_attention", "in the arrays of another call");
    const BlockPattern pattern = upload(grader, to_blocks(listed));
    const BlockPattern before = upload(grader, to_blocks(small));
    const T* q = grader.input("q", rounded<T>(inputs.q));
    const T* k = grader.input("k", rounded<T>(inputs.k));
    const T* v = grader.input("v", rounded<T>(inputs.v));
    T* o = grader.output<T>("o", {1, 2, 20, 64});
    grader.run([&](cudaStream_t stream) {
        const auto call = [&](const AttentionShape& of, const BlockPattern& lists) {
            hopper_block_sparse_attention(
                of, lists, q, k, v, o, nullptr, check.status(), stream);
        };
        call(shape_of(small, 64), before);
        call(shape, pattern);
    });
    expect_both(grader, expect_listed(shape, listed, inputs), false);
    check.check(nullptr);
}

TEST_CASE("blocks: without keys, k and v may be null, and lists may hold anything") {
    NEEDS_BLOCKS();
    for (const int64_t D : {64, 128})
        for (const bool with_lse : {true, false}) {
            auto shape = plain_attention(2, 4, 260, 0, D);
            shape.kv_heads = 2;
            HostBlocks blocks;
            blocks.queries = 260;
            blocks.full = {{0, 7, 2, -5}, {0, 1, -1}};
            blocks.partial = {{3, 2, 1, 0}, {5}};
            blocks.masks.assign(kRows, ~uint64_t{0});
            blocks.order = {7, -1, 0};
            AttentionExpected expected;
            expected.o.assign(static_cast<size_t>(shape.query_elements()), 0.0);
            expected.o_bound = expected.o;
            expected.lse.assign(static_cast<size_t>(shape.rows()), -INFINITY);
            expected.lse_bound.assign(expected.lse.size(), 0.0);
            Grader grader("hopper_block_sparse_attention", "no keys, k = v = nullptr");
            const BlockPattern pattern = upload(grader, blocks, Begin::anywhere);
            const auto inputs = random_attention(shape, 1);
            const T* q = grader.input("q", rounded<T>(inputs.q), Begin::vectors);
            T* o = grader.output<T>("o", {2, 4, 260, D}, Begin::vectors);
            float* lse = nullptr;
            if (with_lse) lse = grader.output<float>("lse", {2, 4, 260});
            const auto none = words({});
            auto* status = reinterpret_cast<PatternStatus*>(grader.in_out<int32_t>(
                "status", {std::ssize(none)}, {none.begin(), none.end()}));
            grader.run([&](cudaStream_t stream) {
                hopper_block_sparse_attention(
                    shape, pattern, q, nullptr, nullptr, o, lse, status, stream);
            });
            expect_both(grader, expected, with_lse);
            grader.expect("status", none, [](int64_t) { return 0.0; });
        }
}

TEST_CASE("blocks: lists of an earlier call, at the same addresses, are forgotten") {
    NEEDS_BLOCKS();
    // Of the same sizes: only what they hold is another.
    const auto before = rows_of(200, {{0, 1, 2}, {70}, {130, 199}});
    const auto now = rows_of(200, {{140, 3}, {71, 72, 9}, {}});
    HostBlocks earlier = to_blocks(before);
    HostBlocks later = to_blocks(now);
    for (HostBlocks* const blocks : {&earlier, &later}) {
        blocks->partial.blocks.resize(4);
        blocks->masks.resize(4 * kRows);
    }
    const auto shape = shape_of(now, 64, 1, 2);
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    const wb::PatternCheck check;
    Grader grader("hopper_block_sparse_attention", "lists that change between calls");
    const BlockPattern first = upload(grader, earlier);
    const BlockPattern second = upload(grader, later);
    auto* const blocks = grader.in_out<int32_t>("blocks", {4}, {0, 0, 0, 0});
    auto* const offsets = grader.in_out<int64_t>("offsets", {2}, {0, 0});
    auto* const masks = grader.in_out<uint64_t>(
        "masks", {4 * kRows}, std::vector<uint64_t>(size_t{4 * kRows}));
    const T* q = grader.input("q", rounded<T>(inputs.q));
    const T* k = grader.input("k", rounded<T>(inputs.k));
    const T* v = grader.input("v", rounded<T>(inputs.v));
    T* o = grader.output<T>("o", {1, 2, 3, 64});
    float* lse = grader.output<float>("lse", {1, 2, 3});
    grader.run_and_wait([&](cudaStream_t stream) {
        for (const BlockPattern& pattern : {first, second}) {
            const auto copy = [&](auto* to, const auto* from, size_t count) {
                CUDA_CHECK(cudaMemcpyAsync(
                    to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, stream));
            };
            copy(blocks, pattern.partial.blocks, 4);
            copy(offsets, pattern.partial.offsets, 2);
            copy(masks, pattern.masks, size_t{4 * kRows});
            BlockPattern copied = pattern;
            copied.full.offsets = first.full.offsets;
            copied.full.blocks = first.full.blocks;
            copied.order = first.order;
            copied.partial = {offsets, blocks, 4};
            copied.masks = masks;
            hopper_block_sparse_attention(
                shape, copied, q, k, v, o, lse, check.status(), stream);
        }
    });
    expect_both(grader, expect_listed(shape, now, inputs));
    check.check(nullptr);
}

namespace {

/// The arguments of a call, all right.
struct ListsCall {
    AttentionShape shape;
    BlockPattern pattern;
    const T *q, *k, *v;
    T* o;
    float* lse;
    PatternStatus* status;

    void queue(cudaStream_t stream) const {
        hopper_block_sparse_attention(shape, pattern, q, k, v, o, lse, status, stream);
    }
};

/// One row of blocks, whose first list has a block that does not exist.
HostBlocks one_partial_block(int64_t queries, int64_t keys, uint64_t seed) {
    wb::testing::Random random(seed);
    HostBlocks blocks = random_lists(queries, keys, 0, 2, -1, random);
    blocks.full = {{0, 1}, {7}};
    return blocks;
}

}  // namespace

TEST_CASE("blocks: a call that differs from the one before it in one argument") {
    NEEDS_BLOCKS();
    // Nothing that was made for the one may serve the other, in the same arrays.
    auto shape = plain_attention(1, 2, 20, 32, 64);
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    const HostBlocks blocks = one_partial_block(shape.queries, shape.keys, 1);
    const auto expected = expect_listed(shape, keys_of(blocks), inputs);
    const PatternStatus fault = faults_of(blocks)[0];
    const auto graded = [&](const std::string& text, auto change) {
        Grader grader("hopper_block_sparse_attention", "first " + text);
        const auto status_of = [&](const std::string& name) {
            return reinterpret_cast<PatternStatus*>(
                grader.in_out<int32_t>(name, {6}, std::vector<int32_t>(6)));
        };
        ListsCall call = {shape,
                          upload(grader, blocks),
                          grader.input("q", rounded<T>(inputs.q)),
                          grader.input("k", rounded<T>(inputs.k)),
                          grader.input("v", rounded<T>(inputs.v)),
                          grader.output<T>("o", {2, 20, 64}),
                          grader.output<float>("lse", {2, 20}),
                          status_of("status")};
        ListsCall others = call;
        others.pattern = upload(grader, one_partial_block(20, 32, 2));
        others.o = grader.output<T>("another o", {2, 20, 64});
        others.lse = grader.output<float>("another lse", {2, 20});
        others.status = status_of("another status");
        ListsCall before = call;
        change(before, others);
        grader.run([&](cudaStream_t stream) {
            before.queue(stream);
            call.queue(stream);
        });
        expect_both(grader, expected);
        grader.expect("status", words(fault), [](int64_t) { return 0.0; });
    };
    using Call = ListsCall;
    graded("another scale", [](Call& c, auto&) { c.shape.scale *= 2.0f; });
    graded("another lse", [](Call& c, auto& others) { c.lse = others.lse; });
    graded("no lse", [](Call& c, auto&) { c.lse = nullptr; });
    graded("another o", [](Call& c, auto& others) { c.o = others.o; });
    graded("another status", [](Call& c, auto& others) { c.status = others.status; });
    graded("other lists", [](Call& c, auto& others) { c.pattern = others.pattern; });
    graded("k and v exchanged", [](Call& c, auto&) { std::swap(c.k, c.v); });
    graded("a query less", [](Call& c, auto&) { --c.shape.queries; });
    graded("a key less", [](Call& c, auto&) { --c.shape.keys; });
    graded("one head",
           [](Call& c, auto&) { c.shape = plain_attention(1, 1, 40, 64, 64); });
    graded("two sequences",
           [](Call& c, auto&) { c.shape = plain_attention(2, 1, 20, 32, 64); });
    graded("128 columns",
           [](Call& c, auto&) { c.shape = plain_attention(1, 2, 10, 16, 128); });
    graded("four heads, of which two share keys", [](Call& c, auto&) {
        c.shape = plain_attention(1, 4, 10, 32, 64);
        c.shape.kv_heads = 2;
    });
    graded("heads that share keys", [](Call& c, auto&) {
        c.shape.keys = 64;
        c.shape.kv_heads = 1;
    });
}

TEST_CASE("blocks: one array is q and k and v") {
    NEEDS_BLOCKS();
    const auto pattern = wb::local_pattern(150, 150, 40, 0);
    for (const int64_t D : {64, 128}) {
        const auto shape = shape_of(pattern, D, 1, 2);
        auto inputs = as_stored<T>(random_attention(shape, 1));
        inputs.q = inputs.k = inputs.v;
        const wb::PatternCheck check;
        Grader grader("hopper_block_sparse_attention", "q, k and v are one array");
        const BlockPattern lists = upload(grader, to_blocks(pattern));
        const T* all = grader.input("q, k and v", rounded<T>(inputs.v));
        T* o = grader.output<T>("o", {2, 150, D});
        grader.run([&](cudaStream_t stream) {
            hopper_block_sparse_attention(
                shape, lists, all, all, all, o, nullptr, check.status(), stream);
        });
        expect_both(grader, expect_listed(shape, pattern, inputs), false);
    }
}

TEST_CASE("blocks: on a device that is not number 0") {
    NEEDS_BLOCKS();
    on_another_device([] {
        const auto pattern = wb::local_pattern(140, 71, 9, 2);
        for (const int64_t D : {64, 128})
            grade(shape_of(pattern, D), pattern, "window 9 + 2");
    });
}

TEST_CASE("blocks: next to no memory beyond the arguments", "[serial]") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // memory is counted without the checker
#ifdef SIMT_CPU
    constexpr uint64_t kMost = 4;
#else
    constexpr uint64_t kMost = 512;  // a GPU has no smaller pieces
#endif
    // Many rows and heads, a long list, and one with a fault.
    wb::testing::Random random(1);
    const HostBlocks one = to_blocks(rows_of(1, {{0}}));
    const HostBlocks many = random_lists(600, 70, 2, 2, -1, random);
    const HostBlocks lengthy = random_lists(1, 200, 600, 500, -1, random);
    HostBlocks wrong = many;
    insert_block(wrong, false, -1, random);
    const auto call = [](const HostBlocks& blocks, int64_t D, int64_t heads) {
        const auto shape = plain_attention(1, heads, blocks.queries, blocks.keys, D);
        const auto inputs = random_attention(shape, 1);
        const wb::PatternCheck check;
        Grader grader("hopper_block_sparse_attention", describe(shape));
        const ListsCall lists = {shape,
                                 upload(grader, blocks),
                                 grader.input("q", rounded<T>(inputs.q)),
                                 grader.input("k", rounded<T>(inputs.k)),
                                 grader.input("v", rounded<T>(inputs.v)),
                                 grader.output<T>("o", {heads, blocks.queries, D}),
                                 nullptr,
                                 check.status()};
        const wb::testing::MemoryWatch watch;
        grader.run([&](cudaStream_t stream) { lists.queue(stream); });
        if (blocks.queries + blocks.keys == 2) return;  // what loads code
        watch.expect_at_most(kMost, "hopper_block_sparse_attention");
    };
    for (const int64_t D : {64, 128}) {
        call(one, D, 1);
        call(many, D, 2);
        call(wrong, D, 2);
    }
    call(lengthy, 64, 1);
    SUCCEED();
}

TEST_CASE("blocks: without queries nothing is done") {
    NEEDS_BLOCKS();
    T* const none = nullptr;
    Grader grader("hopper_block_sparse_attention",
                  "queries = 0, batch = 0, or no heads");
    grader.expect_no_work([&](cudaStream_t s) {
        for (const auto& shape : {plain_attention(1, 1, 0, 5, 64),
                                  plain_attention(0, 1, 5, 5, 128),
                                  plain_attention(2, 0, 5, 5, 64)})
            hopper_block_sparse_attention(
                shape, {}, none, none, none, none, nullptr, nullptr, s);
    });
}
