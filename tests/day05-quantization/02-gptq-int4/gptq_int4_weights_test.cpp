// Grades day05-quantization/02-gptq-int4: what is said of weights that were loaded.
#include "../../../day05-quantization/02-gptq-int4/check_weights.h"

#include "grading.h"

using namespace gptq_grading;

TEST_CASE("loaded weights: scales and groups that are of no use are refused by name") {
    grade_whole({1, 8, 8});  // what is packed is of use
    const Call c{1, 24, 96, 32, true, shuffled};
    grade_check("gptq_check_weights",
                random_weights(c, 1),
                [&](const GptqTensors& tensors, cudaStream_t stream) {
                    gptq_check_weights(c.shape(), tensors, stream);
                });
}

TEST_CASE(
    "loaded weights: those of GPTQ are right, and wrong tensors are not looked at") {
    const Call c{1, 24, 64, 32};
    grade_whole(c);
    GptqWeights w = random_weights(c, 1);
    Grader grade("gptq_check_weights", c.text());
    GptqTensors tensors = tensors_of(grade, w);
    grade.run_and_wait([&](cudaStream_t stream) {  // without g_idx
        gptq_check_weights(c.shape(), tensors, stream);
        gptq_check_weights({1, 0, 64, 32}, {}, stream);
        gptq_check_weights({1, 24, 0, -1}, {}, stream);
    });
    const auto refuse = [&](const char* part, const GptqShape& shape) {
        wb::testing::expect_refused("gptq_check_weights", part, part, [&] {
            gptq_check_weights(shape, tensors, nullptr);
        });
    };
    refuse("gptq_check_weights: shape.N is 20", {1, 20, 64, 32});
    refuse("tensors.qzeros_words is 6", {1, 24, 64, 64});
    tensors.scales = nullptr;
    refuse("tensors.scales is a null pointer", c.shape());
}
