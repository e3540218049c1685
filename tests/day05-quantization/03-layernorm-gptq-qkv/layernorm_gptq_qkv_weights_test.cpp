// Grades day05-quantization/03-layernorm-gptq-qkv: what is said of weights that were
// loaded.
#include "../../../day05-quantization/03-layernorm-gptq-qkv/check_weights.h"

#include "grading.h"

using namespace qkv_grading;

TEST_CASE("loaded weights: scales and groups that are of no use are refused by name") {
    grade_whole({1, 1, 8});  // what is packed is of use
    const QkvShape shape = {1, 1, 64, 32};
    grade_check("qkv_check_weights",
                random_weights_of(shape.weights(), shuffled, 1),
                [&](const GptqTensors& tensors, cudaStream_t stream) {
                    qkv_check_weights(shape, tensors, stream);
                });
    qkv_check_weights({1, 1, 0, 32}, {}, nullptr);
    wb::testing::expect_refused("qkv_check_weights",
                                "shape.hidden",
                                "qkv_check_weights: shape.hidden is 60",
                                [] {
                                    qkv_check_weights({1, 1, 60, -1}, {}, nullptr);
                                });
}
