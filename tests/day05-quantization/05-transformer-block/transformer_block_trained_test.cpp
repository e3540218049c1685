// Grades day05-quantization/05-transformer-block: a block of a trained model, in bf16
// and in 4 bits.
#include "run.h"

#include "trained/block.h"

using namespace block_grading;

namespace {

/// What the model guesses with a block of a kind: what was measured once.
struct Quality {
    const char* name;
    WeightKind kind;
    Fp4Scales scales;
    bool propagates;  ///< GPTQ's own algorithm, or rounding
    double bits;      ///< of surprise, for a letter
    int same;         ///< of 128 guesses, as with weights in float
};

}  // namespace

TEST_CASE("a trained block: each array, and what the model guesses") {
    const auto q = GENERATE(
        Quality{"bf16", WeightKind::bf16, Fp4Scales::nvfp4, false, 2.0209, 128},
        Quality{"GPTQ", WeightKind::int4, Fp4Scales::nvfp4, true, 2.0358, 124},
        Quality{
            "INT4, rounded", WeightKind::int4, Fp4Scales::nvfp4, false, 2.0416, 118},
        Quality{"NVFP4", WeightKind::fp4, Fp4Scales::nvfp4, false, 2.1164, 109},
        Quality{"MX", WeightKind::fp4, Fp4Scales::mx, false, 2.1153, 110},
        Quality{"channel", WeightKind::fp4, Fp4Scales::channel, false, 2.1080, 110});
    INFO(q.name);
    const trained::Texts texts;
    const HostBlock b = trained::block_of(q.kind, q.scales, q.propagates, texts);
    // The kernels, on the texts' letters; a short one, for the simulator.
    const Tokens t = {{9, 5}};
    auto x = trained::letters(texts, 14);
    HostCache c = make_cache(b.sizes, {0, 0}, 9, 16, 3);
    grade_block(b, t, &c, x, std::string(", trained, ") + q.name);

    const HostBlock exact =
        trained::block_of(WeightKind::bf16, Fp4Scales::nvfp4, false, texts, false);
    const auto right = trained::outputs(exact, texts);
    const auto got = trained::outputs(b, texts);
    CHECK(std::abs(trained::bits(got, texts) - q.bits) < 2e-4);
    CHECK(trained::same_guesses(right, got) == q.same);
}
