// Tests v7 of Hopper attention, over the blocks of a pattern: what is refused.
#include "sparse_grading.h"

#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

using namespace sparse_grading;

TEST_CASE("blocks: wrong arguments are refused by name") {
    NEEDS_BLOCKS();
    Grader memory("hopper_block_sparse_attention", "wrong arguments");
    const size_t elements = 2 * 4 * 64 + 8;
    T* d = memory.in_out<T>(
        "d", {elements}, std::vector<T>(elements, static_cast<T>(1.0f)));
    const wb::PatternCheck check;
    const BlockPattern good = upload(memory, to_blocks(wb::dense_pattern(4, 4, true)));
    const auto call = [&](const std::string& part,
                          const AttentionShape& shape,
                          const BlockPattern& pattern,
                          const T* q,
                          PatternStatus* status) {
        expect_refused("hopper_block_sparse_attention", part, part, [&] {
            hopper_block_sparse_attention(
                shape, pattern, q, d, d, d, nullptr, status, nullptr);
        });
    };
    const auto shape = plain_attention(1, 2, 4, 4, 64);
    const auto with = [&](const std::string& part, auto change) {
        auto wrong = shape;
        change(wrong);
        call(part, wrong, good, d, check.status());
    };
    with("shape.causal is 1", [](auto& s) { s.causal = true; });
    with("shape.head_dim is 32", [](auto& s) { s.head_dim = 32; });
    with("shape.head_dim is 256", [](auto& s) { s.head_dim = 256; });
    with("shape.queries is -1", [](auto& s) { s.queries = -1; });
    with("shape.kv_heads", [](auto& s) { s.kv_heads = 3; });
    with("shape.scale is -0.5", [](auto& s) { s.scale = -0.5f; });
    with("shape.head_dim is 96", [](auto& s) { s.head_dim = 96; });
    with("shape.queries is ", [](auto& s) { s.queries = (int64_t{1} << 30) + 1; });
    with("batch * query_heads * queries * head_dim", [](auto& s) {
        s.batch = int64_t{1} << 33;
        s.queries = int64_t{1} << 30;
    });
    wb::testing::expect_shapes_refused(
        "hopper_block_sparse_attention",
        shape,
        /*groups=*/true,
        [&](const AttentionShape& of) {
            hopper_block_sparse_attention(
                of, good, d, d, d, d, nullptr, check.status(), nullptr);
        });
    wb::testing::expect_pointers_refused<T>(
        "hopper_block_sparse_attention",
        [&](const AttentionShape& of,
            const T* q,
            const T* k,
            const T* v,
            T* o,
            float* lse,
            cudaStream_t stream) {
            hopper_block_sparse_attention(
                of, good, q, k, v, o, lse, check.status(), stream);
        },
        plain_attention(1, 1, 4, 4, 64),
        true);
    call("status is a null pointer", shape, good, d, nullptr);
    call("status is a null pointer", plain_attention(1, 2, 4, 0, 64), good, d, nullptr);
    const auto without = [&](const std::string& part, auto change) {
        BlockPattern wrong = good;
        change(wrong);
        call(part, shape, wrong, d, check.status());
    };
    without("pattern.order is a null pointer, but 1 elements",
            [](auto& p) { p.order = nullptr; });
    without("pattern.masks is a null", [](auto& p) { p.masks = nullptr; });
    without("pattern.full.offsets is a null",
            [](auto& p) { p.full.offsets = nullptr; });
    without("pattern.partial.offsets is a null",
            [](auto& p) { p.partial.offsets = nullptr; });
    without("pattern.full.blocks is a null", [](auto& p) {
        p.full.blocks = nullptr;
        p.full.num_blocks = 1;
    });
    without("pattern.partial.blocks is a null",
            [](auto& p) { p.partial.blocks = nullptr; });
    static int64_t host[4] = {};
    auto* const host_blocks = reinterpret_cast<int32_t*>(host);
    without("pattern.full.offsets is a host", [](auto& p) { p.full.offsets = host; });
    without("pattern.partial.offsets is a host",
            [](auto& p) { p.partial.offsets = host; });
    without("pattern.full.blocks is a host", [&](auto& p) {
        p.full.blocks = host_blocks;
        p.full.num_blocks = 1;
    });
    without("pattern.partial.blocks is a host",
            [&](auto& p) { p.partial.blocks = host_blocks; });
    without("pattern.masks is a host",
            [](auto& p) { p.masks = reinterpret_cast<uint64_t*>(host); });
    without("pattern.order is a host", [&](auto& p) { p.order = host_blocks; });
    const auto misaligned = [](auto& p) {
        using Pointer = std::remove_reference_t<decltype(p)>;
        p = reinterpret_cast<Pointer>(reinterpret_cast<uintptr_t>(p) + 2);
    };
    without("pattern.full.offsets is not aligned",
            [&](auto& p) { misaligned(p.full.offsets); });
    without("pattern.partial.offsets is not aligned",
            [&](auto& p) { misaligned(p.partial.offsets); });
    without("pattern.partial.blocks is not aligned",
            [&](auto& p) { misaligned(p.partial.blocks); });
    without("pattern.masks is not aligned", [&](auto& p) { misaligned(p.masks); });
    without("pattern.order is not aligned", [&](auto& p) { misaligned(p.order); });
    call("status is a host pointer",
         shape,
         good,
         d,
         reinterpret_cast<PatternStatus*>(host));
    without("pattern.full.blocks is not aligned", [&](auto& p) {
        p.full.blocks = p.partial.blocks;
        p.full.num_blocks = 1;
        misaligned(p.full.blocks);
    });
    PatternStatus* status = check.status();
    misaligned(status);
    call("status is not aligned", shape, good, d, status);
    auto* lse = reinterpret_cast<float*>(d);
    misaligned(lse);
    expect_refused("hopper_block_sparse_attention", "lse", "lse is not aligned", [&] {
        hopper_block_sparse_attention(
            shape, good, d, d, d, d, lse, check.status(), nullptr);
    });
    without("pattern.full.num_blocks is -1", [](auto& p) { p.full.num_blocks = -1; });
    without("pattern.partial.num_blocks is -2",
            [](auto& p) { p.partial.num_blocks = -2; });
    for (const auto& none :
         {plain_attention(1, 2, 0, 4, 64), plain_attention(0, 2, 4, 4, 64)}) {
        BlockPattern negative = good;
        negative.full.num_blocks = -1;
        call("pattern.full.num_blocks is -1", none, negative, d, check.status());
        negative = good;
        negative.partial.num_blocks = -2;
        call("pattern.partial.num_blocks is -2", none, negative, d, check.status());
        auto wrong = none;
        wrong.causal = true;
        call("shape.causal is 1", wrong, good, d, check.status());
        wrong = none;
        wrong.scale = -0.5f;
        call("shape.scale is -0.5", wrong, good, d, check.status());
        wrong = none;
        wrong.head_dim = 256;
        call("shape.head_dim is 256", wrong, good, d, check.status());
    }
    // Another call has more rows of blocks.
    BlockPattern wrong = good;
    wrong.order = nullptr;
    call("pattern.order is a null pointer, but 2 elements",
         plain_attention(1, 2, kRows + 1, 4, 64),
         wrong,
         d,
         check.status());
    CUDA_CHECK(cudaDeviceSynchronize());
    memory.expect("d", std::vector<double>(elements, 1.0), [](int64_t) { return 0.0; });
}
