// Grades day05-quantization/05-transformer-block: many steps, graphs, sequences that
// are full, and workspaces.
#include "run.h"

#include <wb/testing/fail.h>

#include <functional>

using namespace block_grading;
using wb::testing::StreamOrder;

namespace {

constexpr int kSteps = 3;

/// A step each time `launch` is called; how they are launched is up to `steps`.
using Steps = std::function<void(cudaStream_t, const std::function<void()>&)>;

void one_by_one(cudaStream_t, const std::function<void()>& launch) {
    for (int i = 0; i < kSteps; ++i)
        launch();
}

/// Captured once, and launched as often.
void as_a_graph(cudaStream_t stream, const std::function<void()>& launch) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch();
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < kSteps; ++i)
        CUDA_CHECK(cudaGraphLaunch(executable, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaGraphExecDestroy(executable));
    CUDA_CHECK(cudaGraphDestroy(graph));
}

struct Results {
    std::vector<double> y, k, v, lengths;
};

/// Steps of a version; compared with `known`, bit by bit, if there is one.
Results run_steps(const Version& version,
                  const HostBlock& b,
                  const HostCache& c,
                  const std::vector<Bf16>& x,
                  const Steps& steps,
                  const std::string& what,
                  const Results* known) {
    const Tokens t = {std::vector<int64_t>(c.lengths.size(), 1), true, true};
    const wb::PagedWorkspace pages(c.batch() * b.sizes.heads);
    Grader grade(version.name, b.sizes.text() + what);
    const Packed packed = {
        packed_of(b.qkv), packed_of(b.out), packed_of(b.up), packed_of(b.down)};
    const OnDevice on(grade, b, packed, x, t, &c, pages, false);
    grade.run_and_wait([&](cudaStream_t stream) {
        steps(stream,
              [&] { version(on.block, on.tokens, &on.cache, on.work, stream); });
        CUDA_CHECK(cudaStreamSynchronize(stream));
    });
    pages.check(nullptr);
    if (known != nullptr) {
        const auto exactly = [](int64_t) { return 0.0; };
        grade.expect("lengths", known->lengths, exactly);
        grade.expect("cache.k", known->k, exactly);
        grade.expect("cache.v", known->v, exactly);
        grade.expect("y", known->y, exactly);
    }
    return {grade.read("y"),
            grade.read("cache.k"),
            grade.read("cache.v"),
            grade.read("lengths")};
}

}  // namespace

TEST_CASE("a step that was captured once is launched for the next tokens, too",
          "[large]") {
    Sizes s;
    s.heads = 2;
    s.rotary_dim = 64;
    s.kind = GENERATE(WeightKind::bf16, WeightKind::fp4, WeightKind::int4);
    if (s.kind == WeightKind::fp4) s.place = NormPlace::post;
    const HostCache c = make_cache(s, {14, 0}, kSteps, 16, 4);
    const HostBlock b = random_block(s, c.capacity(), 1);
    const auto x = random_x(s, {{1, 1}}, 6);
    for (const Version& version : versions(true)) {
        const Results eager =
            run_steps(version, b, c, x, one_by_one, ", steps", nullptr);
        CHECK(eager.lengths == std::vector<double>{14.0 + kSteps, 0.0 + kSteps});
        run_steps(version, b, c, x, as_a_graph, ", a graph", &eager);
    }
}

TEST_CASE("steps are what whole sequences are", "[large]") {
    // Three tokens at once, or one after the other: the cache holds the same, up to
    // what sums in another order may change.
    Sizes s;
    s.heads = 2;
    s.rotary_dim = 32;
    const HostCache c = make_cache(s, {0}, kSteps, 16, 4);
    const HostBlock b = random_block(s, c.capacity(), 1);
    const Tokens all = {{kSteps}};
    const auto x = random_x(s, all, 6);
    const wb::PagedWorkspace pages(s.heads);
    for (const Version& version : versions(true)) {
        std::vector<double> whole;
        {
            Grader grade("block_forward", "three tokens");
            const OnDevice on(grade, b, {}, x, all, &c, pages, false);
            grade.run([&](cudaStream_t stream) {
                block_forward(on.block, on.tokens, &on.cache, on.work, stream);
            });
            whole = grade.read("y");
        }
        Grader grade(version.name, "three tokens, one after the other");
        OnDevice on(grade, b, {}, x, {{1}, true, true}, &c, pages, false);
        Bf16* const y = grade.output<Bf16>("all of y", {kSteps, s.d()});
        const Bf16* const rows = grade.input("all of x", x);
        grade.run([&](cudaStream_t stream) {
            for (int i = 0; i < kSteps; ++i) {
                BlockTokens t = on.tokens;
                t.x = rows + i * s.d();
                t.y = y + i * s.d();
                version(on.block, t, &on.cache, on.work, stream);
            }
        });
        // Ten roundings to bf16 of numbers of the size of the largest.
        double largest = 0.0;
        for (const double value : whole)
            largest = std::max(largest, std::abs(value));
        grade.expect("all of y", whole, [&](int64_t) { return 0x1p-8 * 10 * largest; });
    }
}

TEST_CASE("a sequence that is full or lacks a page is reported, and others are right") {
    Sizes s;
    s.heads = 2;
    s.rotary_dim = 64;
    const bool is_full = GENERATE(true, false);
    HostCache c = make_cache(s, {5, 15, 20}, 1, 16, 4);
    const HostBlock b = random_block(s, c.capacity(), 1);
    const Tokens t = {{1, 1, 1}, true, true};
    const auto x = random_x(s, t, 6);
    const int64_t d = s.d();
    for (const Version& version : versions(true)) {
        std::vector<double> right, k_pool, v_pool;
        for (const bool is_wrong : {false, true}) {
            HostCache now = c;
            if (is_wrong && is_full)
                now.lengths[1] = static_cast<int32_t>(c.capacity());
            if (is_wrong && !is_full) now.table[at(c.pages_per_sequence)] = -1;
            const wb::PagedWorkspace pages(3 * s.heads);
            Grader grade(version.name,
                         is_full ? "a sequence is full" : "a page is missing");
            const OnDevice on(grade, b, {}, x, t, &now, pages, false);
            Bf16* const others = grade.output<Bf16>("y of the others", {2, d});
            grade.run([&](cudaStream_t stream) {
                version(on.block, on.tokens, &on.cache, on.work, stream);
                for (const int row : {0, 1})
                    CUDA_CHECK(cudaMemcpyAsync(others + row * d,
                                               on.tokens.y + 2 * row * d,
                                               at(d) * sizeof(Bf16),
                                               cudaMemcpyDeviceToDevice,
                                               stream));
            });
            if (!is_wrong) {
                pages.check(nullptr);
                right = grade.read("y of the others");
                k_pool = grade.read("cache.k");
                v_pool = grade.read("cache.v");
                continue;
            }
            CHECK_THROWS_AS(pages.check(nullptr), wb::PagedCacheError);
            // All but the new token of sequence 1, which is not written.
            const auto stale_k = doubles(c.k);
            const auto stale_v = doubles(c.v);
            for (int64_t h = 0; h < s.heads; ++h)
                for (int64_t i = 0; i < s.head_dim; ++i) {
                    const int64_t place = c.place(s, 1, 15, h) + i;
                    k_pool[at(place)] = stale_k[at(place)];
                    v_pool[at(place)] = stale_v[at(place)];
                }
            const auto exactly = [](int64_t) { return 0.0; };
            grade.expect("y of the others", right, exactly);
            grade.expect("cache.k", k_pool, exactly);
            grade.expect("cache.v", v_pool, exactly);
            if (is_full)
                grade.expect(
                    "lengths", {6.0, static_cast<double>(c.capacity()), 21.0}, exactly);
        }
    }
}

TEST_CASE("a plan: arrays that live at the same time have places of their own") {
    const bool keep = GENERATE(true, false);
    const bool is_quantized = GENERATE(true, false);
    const int64_t tokens = GENERATE(0, 1, 130, 1 << 22);
    BlockShape shape;
    shape.d_ff = GENERATE(3072, 96);
    const BlockPlan p = wb::testing::result_of(
        [&] { return plan_block(shape, is_quantized, tokens, keep); });
    const int64_t d = shape.d_model;
    const int64_t widest = std::max(3 * d, shape.d_ff);
    const struct {
        const char* name;
        int64_t begin;
        int64_t bytes;
    } arrays[] = {
        {"normed", p.normed, 2 * d},
        {"qkv", p.qkv, 6 * d},
        {"queries", p.queries, 2 * d},
        {"attended", p.attended, 2 * d},
        {"middle", p.middle, 2 * d},
        {"hidden", p.hidden, 2 * shape.d_ff},
        {"half_in", p.half_in, is_quantized ? 2 * std::max(d, shape.d_ff) : 0},
        {"half_out", p.half_out, is_quantized ? 2 * widest : 0},
        {"sequences", p.sequences, 4},
        {"positions", p.positions, 4}};
    int64_t sum = 0;
    for (const auto& a : arrays) {
        INFO(a.name << " at " << a.begin << " of " << p.bytes << " bytes");
        CHECK(a.begin % 256 == 0);
        CHECK(a.begin >= 0);
        CHECK(a.begin + a.bytes * tokens <= p.bytes);
        sum += (a.bytes * tokens + 255) / 256 * 256;
        for (const auto& b : arrays) {
            const std::string pair = std::string(a.name) + " " + b.name;
            const bool may_share =
                !keep && (pair == "normed attended" || pair == "attended normed" ||
                          pair == "qkv hidden" || pair == "hidden qkv");
            INFO(b.name << " at " << b.begin);
            CHECK((&a == &b || may_share || a.begin + a.bytes * tokens <= b.begin ||
                   b.begin + b.bytes * tokens <= a.begin));
        }
    }
    const auto of = [&](int64_t bytes) { return (bytes * tokens + 255) / 256 * 256; };
    if (!keep) sum -= of(2 * d) + std::min(of(6 * d), of(2 * shape.d_ff));
    CHECK(p.bytes == sum);
    if (keep) return;
    CHECK(p.hidden == p.qkv);
    CHECK(p.attended == p.normed);
}
