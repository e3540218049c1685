// Times day07-tuning/06-cuda-graphs: what does it cost to launch two hundred small
// kernels?
#include "cuda_graphs.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <cmath>
#include <random>
#include <vector>

#include "model.h"

using namespace wb::bench;

namespace {

constexpr int kKernelsALayer = 7;

/// Random weights of a size that keeps a token from growing.
std::vector<float> random_weights(int matrix, int64_t count) {
    std::mt19937 random(2026u + static_cast<unsigned>(matrix));
    std::normal_distribution<float> normal(0.0f, 0.03f);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values)
        value = normal(random);
    return values;
}

/// The token after one step at position 0, launched one by one.
std::vector<float> expected_token(const Model& model, const std::vector<float>& token) {
    model.begin(token);
    launch_step(model.decoder(), 0, nullptr);
    std::vector<float> values(token.size());
    CUDA_CHECK(cudaMemcpy(values.data(),
                          model.decoder().x,
                          values.size() * sizeof(float),
                          cudaMemcpyDeviceToHost));
    return values;
}

/// The decoder's token, as a benchmark sees an array.
struct Token {
    const Model* model;
    int64_t size() const { return model->decoder().shape.width; }
    float at(int64_t i) const {
        float value = 0.0f;
        CUDA_CHECK(cudaMemcpy(
            &value, model->decoder().x + i, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }
    /// Not poisoned, but restored: a step reads it.
    void poison() const {}
};

}  // namespace

WB_BENCH(make_stepper, bench) {
    for (const DecoderShape& shape : bench.sizes<DecoderShape>(
             {{2, 32, 4}}, {{28, 256, 256}}, {{28, 256, 256}, {28, 1024, 256}})) {
        const double kernels = kKernelsALayer * shape.layers;
        const double weights = 3.0 * sizeof(float) * shape.layers * shape.width *
                               static_cast<double>(shape.width);
        const Model model(shape, random_weights);
        const auto token = bench.random_normal(shape.width).host();
        const auto right = expected_token(model, token);
        const Token x{&model};
        const std::string size = std::to_string(shape.layers) + " layers, width " +
                                 std::to_string(shape.width);
        for (const bool host_time : {false, true}) {
            Spec spec{size + (host_time ? ", host" : ""), Ceiling::read, weights};
            spec.cache = Cache::hot;
            spec.kernels = kernels;
            spec.host_time = host_time;
            auto problem = bench.problem(spec);
            problem.expect("x", x, [&](int64_t i) {
                return Expected{right[static_cast<size_t>(i)], 0.0};
            });
            problem.restore([&](cudaStream_t) { model.begin(token); });
            for (const auto& [name, idea, make] :
                 wb::implementations("make_stepper", make_stepper)) {
                const auto stepper = make(model.decoder());
                // The position changes with each step, or an update would have nothing
                // to do; the tokens before it are few, so that the kernels stay small.
                int position = 0;
                problem.time(name, idea, [&](cudaStream_t stream) {
                    stepper->step(position, stream);
                    position = (position + 1) % std::min(8, shape.positions);
                });
            }
        }
    }
}
