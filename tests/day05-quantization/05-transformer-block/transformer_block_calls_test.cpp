// Grades day05-quantization/05-transformer-block: arguments and empty calls.
#include "run.h"

#include <wb/testing/refuses.h>

using namespace block_grading;
using wb::testing::expect_refused;
using wb::testing::misaligned;

namespace {

/// Right arguments of both functions: two sequences of one token.
struct Arguments {
    Block block;
    BlockTokens tokens;
    BlockCache cache;
    bool has_cache = true;
    BlockWorkspace work;
};

/// What they point to.
struct Memory {
    Sizes sizes;
    HostCache host_cache;
    HostBlock host;
    Tokens host_tokens = {{1, 1}, true, false};
    wb::PagedWorkspace pages;
    Grader grade;
    OnDevice on;

    explicit Memory(WeightKind kind)
        : sizes{.heads = 2, .rotary_dim = 64, .kind = kind},
          host_cache(make_cache(sizes, {0, 0}, 1, 16, 4)),
          host(random_block(sizes, host_cache.capacity(), 1)),
          pages(4),
          grade("block_forward", "wrong arguments"),
          on(grade,
             host,
             {packed_of(host.qkv),
              packed_of(host.out),
              packed_of(host.up),
              packed_of(host.down)},
             random_x(sizes, host_tokens, 6),
             host_tokens,
             &host_cache,
             pages,
             false) {}

    Arguments right() const { return {on.block, on.tokens, on.cache, true, on.work}; }
};

void call_forward(const Arguments& a, cudaStream_t stream) {
    block_forward(a.block, a.tokens, a.has_cache ? &a.cache : nullptr, a.work, stream);
}
void call_decode(const Arguments& a, cudaStream_t stream) {
    block_decode(a.block, a.cache, a.tokens.x, a.tokens.y, a.work, stream);
}

using Refuses = wb::testing::Refuses<Arguments>;

void refuse_all(const Refuses& refuse) {
    refuse("shape.heads is 0", [](auto& a) { a.block.shape.heads = 0; });
    refuse("shape.d_model is 0", [](auto& a) { a.block.shape.d_model = 0; });
    refuse("shape.d_model is 192", [](auto& a) { a.block.shape.d_model = 192; });
    refuse("shape.d_model is 2097152", [](auto& a) {
        a.block.shape.d_model = 1 << 21;
        a.block.shape.heads = 1 << 14;
    });
    refuse("shape.d_ff is 0", [](auto& a) { a.block.shape.d_ff = 0; });
    refuse("shape.d_ff is 48", [](auto& a) { a.block.shape.d_ff = 48; });
    refuse("shape.d_ff is 2097152", [](auto& a) { a.block.shape.d_ff = 1 << 21; });
    refuse("shape.place is 2",
           [](auto& a) { a.block.shape.place = static_cast<NormPlace>(2); });
    refuse("shape.activation is 3",
           [](auto& a) { a.block.shape.activation = static_cast<Activation>(3); });
    refuse("shape.eps is 0", [](auto& a) { a.block.shape.eps = 0.0f; });
    refuse("shape.eps is", [](auto& a) { a.block.shape.eps = NAN; });
    refuse("shape.rotary_dim is -2", [](auto& a) { a.block.shape.rotary_dim = -2; });
    refuse("shape.rotary_dim is 3", [](auto& a) { a.block.shape.rotary_dim = 3; });
    refuse("shape.rotary_dim is 66", [](auto& a) { a.block.shape.rotary_dim = 66; });
    refuse("norm1.gamma is a null", [](auto& a) { a.block.norm1.gamma = nullptr; });
    refuse("norm1.beta is a null", [](auto& a) { a.block.norm1.beta = nullptr; });
    refuse("norm2.gamma is a null", [](auto& a) { a.block.norm2.gamma = nullptr; });
    refuse("norm2.beta is a null", [](auto& a) { a.block.norm2.beta = nullptr; });
    refuse("cache.pages.kv_heads is 1", [](auto& a) { a.cache.pages.kv_heads = 1; });
    refuse("cache.pages.head_dim is 128",
           [](auto& a) { a.cache.pages.head_dim = 128; });
    refuse("page_size is 24", [](auto& a) { a.cache.pages.page_size = 24; });
    refuse("lengths is a null", [](auto& a) { a.cache.lengths = nullptr; });
    refuse("cache.angle_rows is 1", [](auto& a) { a.cache.angle_rows = 1; });
    refuse("cache.angles is a null", [](auto& a) { a.cache.angles = nullptr; });
    refuse("work.bytes is", [](auto& a) { a.work.bytes -= 1; });
    refuse("work.memory is a null", [](auto& a) { a.work.memory = nullptr; });
    refuse("must be a multiple of 256",
           [](auto& a) { a.work.memory = static_cast<char*>(a.work.memory) + 128; });
    refuse("work.pages is 0", [](auto& a) { a.work.pages = nullptr; });
    static const wb::PagedWorkspace few(3);
    refuse("work.pages->num_counters() is 3", [](auto& a) { a.work.pages = &few; });
    refuse("x is a null", [](auto& a) { a.tokens.x = nullptr; });
    refuse("y is a null", [](auto& a) { a.tokens.y = nullptr; });
    refuse("x is not aligned", [](auto& a) { a.tokens.x = misaligned(a.tokens.x); });
    refuse("must be a multiple of 16", [](auto& a) { a.tokens.x += 4; });
    refuse("must be a multiple of 16", [](auto& a) { a.tokens.y += 4; });
    refuse("y - x in bytes is 0",
           [](auto& a) { a.tokens.y = const_cast<Bf16*>(a.tokens.x); });
    refuse("work.memory - y in bytes is 0",
           [](auto& a) { a.tokens.y = static_cast<Bf16*>(a.work.memory); });
    // One vector of 16 bytes is enough.
    refuse("y - x in bytes is 16",
           [](auto& a) { a.tokens.y = const_cast<Bf16*>(a.tokens.x) + 8; });
    refuse("y - x in bytes is -16", [](auto& a) { a.tokens.x = a.tokens.y + 8; });
    refuse("work.memory - y in bytes is -256",
           [](auto& a) { a.tokens.y = static_cast<Bf16*>(a.work.memory) + 128; });
    refuse("work.memory - x in bytes is -256",
           [](auto& a) { a.tokens.x = static_cast<Bf16*>(a.work.memory) + 128; });
    Bf16 host[512] = {};
    refuse("y is a host pointer", [&](auto& a) { a.tokens.y = host; });
    refuse("x is a host pointer", [&](auto& a) { a.tokens.x = host; });
    refuse("work.memory is", [&](auto& a) { a.work.memory = host; });
    // Nor is a wrong shape right because there is nothing to do.
    const auto refuse_none = [&](const char* part, auto change) {
        refuse(part, [&](auto& a) {
            a.tokens.tokens = a.tokens.longest = a.tokens.sequences = 0;
            a.cache.pages.batch = 0;
            change(a);
        });
    };
    refuse_none("shape.heads is 0", [](auto& a) { a.block.shape.heads = 0; });
    refuse_none("shape.d_ff is 48", [](auto& a) { a.block.shape.d_ff = 48; });
    refuse_none("shape.eps is 0", [](auto& a) { a.block.shape.eps = 0.0f; });
}

}  // namespace

TEST_CASE("wrong arguments are refused by name, and nothing is launched") {
    Memory memory(WeightKind::bf16);
    SECTION("forward") {
        const Refuses refuse = {"block_forward", call_forward, memory.right()};
        refuse_all(refuse);
        refuse.older_gpu(80);
        refuse("tokens is -1", [](auto& a) { a.tokens.tokens = -1; });
        refuse("tokens is 268435457", [](auto& a) { a.tokens.tokens = (1 << 28) + 1; });
        refuse("sequences is -1", [](auto& a) {
            a.has_cache = false;
            a.block.shape.rotary_dim = 0;
            a.tokens.sequences = -1;
        });
        refuse("cache.pages.batch is 2", [](auto& a) { a.tokens.sequences = 1; });
        refuse("longest is 3", [](auto& a) { a.tokens.longest = 3; });
        refuse("longest is -1", [](auto& a) { a.tokens.longest = -1; });
        refuse("starts is a null", [](auto& a) { a.tokens.starts = nullptr; });
        refuse("shape.rotary_dim is 64", [](auto& a) { a.has_cache = false; });
    }
    SECTION("decode") {
        const Refuses refuse = {"block_decode", call_decode, memory.right()};
        refuse_all(refuse);
        refuse.older_gpu(80);
        refuse("tokens is -1", [](auto& a) { a.cache.pages.batch = -1; });
    }
}

TEST_CASE("wrong layers are refused by name") {
    SECTION("bf16") {
        Memory memory(WeightKind::bf16);
        const Refuses refuse = {"block_decode", call_decode, memory.right()};
        refuse("qkv.kind is 3",
               [](auto& a) { a.block.qkv.kind = static_cast<WeightKind>(3); });
        refuse("qkv.dense is a null", [](auto& a) { a.block.qkv.dense = nullptr; });
        refuse("out.dense is a null", [](auto& a) { a.block.out.dense = nullptr; });
        refuse("up.dense is a null", [](auto& a) { a.block.up.dense = nullptr; });
        refuse("down.dense is a null", [](auto& a) { a.block.down.dense = nullptr; });
        refuse("qkv.dense is", [](auto& a) { a.block.qkv.dense += 1; });
        refuse("up.bias is not aligned",
               [](auto& a) { a.block.up.bias = misaligned(a.block.up.bias); });
    }
    SECTION("int4") {
        Memory memory(WeightKind::int4);
        const Refuses refuse = {"block_decode", call_decode, memory.right()};
        refuse("qkv.int4_group is 0", [](auto& a) { a.block.qkv.int4_group = 0; });
        refuse("qkv.int4_group is 96", [](auto& a) { a.block.qkv.int4_group = 96; });
        refuse("up.int4.qweight_words is 0",
               [](auto& a) { a.block.up.int4.qweight_words = 0; });
        refuse("up.int4.qzeros_words is 0",
               [](auto& a) { a.block.up.int4.qzeros_words = 0; });
        refuse("up.int4.num_scales is 0",
               [](auto& a) { a.block.up.int4.num_scales = 0; });
        refuse("out.int4.qweight is a null",
               [](auto& a) { a.block.out.int4.qweight = nullptr; });
        refuse("out.int4.scales is a null",
               [](auto& a) { a.block.out.int4.scales = nullptr; });
        refuse("down.int4_packed is a null",
               [](auto& a) { a.block.down.int4_packed = nullptr; });
    }
    SECTION("fp4") {
        Memory memory(WeightKind::fp4);
        const Refuses refuse = {"block_decode", call_decode, memory.right()};
        refuse("up.fp4.value_bytes is 0",
               [](auto& a) { a.block.up.fp4.value_bytes = 0; });
        refuse("up.fp4.num_scales is 0",
               [](auto& a) { a.block.up.fp4.num_scales = 0; });
        refuse("out.fp4.values is a null",
               [](auto& a) { a.block.out.fp4.values = nullptr; });
        refuse("out.fp4.scales is a null",
               [](auto& a) { a.block.out.fp4.scales = nullptr; });
        refuse("down.fp4_bias is a null",
               [](auto& a) { a.block.down.fp4_bias = nullptr; });
    }
}

TEST_CASE("a plan of a shape that is not allowed is refused") {
    const auto refused = [](const char* part, auto change) {
        BlockShape shape;
        change(shape);
        expect_refused(
            "plan_block", part, part, [&] { plan_block(shape, true, 1, true); });
    };
    refused("shape.heads is 0", [](BlockShape& s) { s.heads = 0; });
    refused("shape.d_ff is 33", [](BlockShape& s) { s.d_ff = 33; });
    expect_refused("plan_block", "tokens", "tokens is -1", [] {
        plan_block({}, false, -1, false);
    });
}

TEST_CASE("nothing to do: nothing is launched") {
    Memory memory(WeightKind::bf16);
    Grader grade("block_forward", "no tokens");
    grade.expect_no_work([&](cudaStream_t stream) {
        BlockTokens none = memory.on.tokens;
        none.tokens = none.longest = none.sequences = 0;
        none.x = nullptr;
        none.y = nullptr;
        Block block = memory.on.block;
        block.shape.rotary_dim = 0;
        block_forward(block, none, nullptr, {}, stream);
        BlockCache empty = memory.on.cache;
        empty.pages.batch = 0;
        block_decode(block, empty, nullptr, nullptr, {}, stream);
    });
}
