// Grades day05-quantization/05-transformer-block: what a step costs, in counters.
#include "run.h"

#include <wb/scratch.h>
#include <wb/testing/goal.h>

using namespace block_grading;
using wb::testing::Goal;
using wb::testing::StreamOrder;

namespace {

/// One sequence of 20 tokens, two heads of 64, 256 hidden numbers.
struct Step {
    Sizes sizes;
    HostCache host_cache;
    HostBlock host;
    wb::PagedWorkspace pages;
    Grader grade;
    OnDevice on;

    explicit Step(NormPlace place = NormPlace::pre, WeightKind kind = WeightKind::bf16)
        : sizes{.heads = 2, .d_ff = 256, .place = place, .kind = kind},
          host_cache(make_cache(sizes, {20}, 1, 16, 4)),
          host(random_block(sizes, host_cache.capacity(), 1)),
          pages(2),
          grade("block_decode", sizes.text()),
          on(grade,
             host,
             {packed_of(host.qkv),
              packed_of(host.out),
              packed_of(host.up),
              packed_of(host.down)},
             random_x(sizes, {{1}}, 6),
             {{1}, true, true},
             &host_cache,
             pages,
             false) {}

    void run() const {
        cudaStream_t stream = nullptr;
        CUDA_CHECK(cudaStreamCreate(&stream));
        block_decode(on.block, on.cache, on.tokens.x, on.tokens.y, on.work, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        CUDA_CHECK(cudaStreamDestroy(stream));
    }

    /// Captures the step, once; the graph is not launched.
    void capture() const {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        CUDA_CHECK(cudaStreamCreate(&stream));
        CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        block_decode(on.block, on.cache, on.tokens.x, on.tokens.y, on.work, stream);
        CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
        CUDA_CHECK(cudaGraphDestroy(graph));
        CUDA_CHECK(cudaStreamDestroy(stream));
    }
};

WeightKind any_kind() {
    return GENERATE(WeightKind::bf16, WeightKind::int4, WeightKind::fp4);
}

}  // namespace

TEST_CASE("a step is five kernels, six for post", "[.][goal][fast]") {
    const NormPlace place = GENERATE(NormPlace::pre, NormPlace::post);
    const unsigned allowed = place == NormPlace::pre ? 5 : 6;
    const Step step(place, any_kind());
    const Goal goal("block_decode");
    const StreamOrder order(1);
    step.run();
    const unsigned chain = StreamOrder::longest_chain();
    goal.require(chain <= allowed,
                 "a step is " + std::to_string(chain) +
                     " kernels and copies, one after the other; " +
                     std::to_string(allowed) + " will do");
}

TEST_CASE("a step takes no memory", "[.][goal][fast]") {
    const Step step(NormPlace::pre, any_kind());
    const Goal goal("block_decode");
    CUDA_CHECK(cudaDeviceSynchronize());
    wb::reset_scratch_peak();
    const uint64_t before = wb::scratch_peak();
    if (GENERATE(false, true))
        step.capture();
    else
        step.run();
    const uint64_t taken = wb::scratch_peak() - before;
    goal.require(taken == 0,
                 "a step takes " + std::to_string(taken) +
                     " bytes of memory besides its workspace");
}

TEST_CASE("weights are read once, 16 bytes a load", "[.][goal][fast]") {
    const Step step;
    const Goal goal("block_decode");
    step.run();
    // Rows of W: 4 of 128 x 128 and 2 of 128 x 256. A block of eight columns loads its
    // rows of x: three times for a norm, with gamma and beta, else once. Then there are
    // a bias for each column, residuals, 20 keys and values, and a few look-ups.
    constexpr double kWeights = 2.0 * (4 * 128 * 128 + 2 * 128 * 256);
    constexpr double kRow = 2.0 * 128;
    constexpr double kStaged =
        kRow * (5.0 * (384 + 256) / 8 + 128.0 / 8) + 2 * kRow * 128.0 / 8;
    constexpr double kColumns = 384 + 128 + 256 + 128;
    constexpr double kCache = 2 * 2.0 * 128 * 21;
    goal.loads_at_most((kWeights + kStaged + kCache) / 32 + 2 * kColumns,
                       (kWeights + 2 * kStaged + 4 * kCache) / 256 + 3 * kColumns);
}
