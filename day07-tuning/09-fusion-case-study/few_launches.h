/// few_launches.h: given with "Go faster": who launches the kernels of v4. There is
/// nothing to write here; it is included behind them.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>

#include "heads.h"
#include "step.h"

// #region v4-launches
static Normed normed(const Step& step, int64_t norm) {
    const Decoder& d = step.decoder();
    const Pair pair = step.norm_pair(norm);
    return {d.x,
            step.weight(pair.weight),
            step.weight(pair.bias),
            d.shape.gpt.width,
            static_cast<float>(d.shape.gpt.eps)};
}

static unsigned blocks_of_warps(int64_t warps) {
    return wb::grid_size(warps * wb::kWarpSize, kThreads);
}

/// q turns, k and v go into the cache: of the norm of x.
static void norm_qkv_append(Step& step, int64_t layer) {
    const Decoder& d = step.decoder();
    const int64_t width = d.shape.gpt.width;
    const Pair pair = step.of_layer(d.places.qkv, layer);
    norm_qkv_append_kernel<<<blocks_of_warps(3 * width / 2),
                             kThreads,
                             static_cast<size_t>(width) * sizeof(float),
                             step.stream()>>>(heads_of(d, layer),
                                              normed(step, 2 * layer),
                                              step.weight(pair.weight),
                                              step.weight(pair.bias));
    step.launched(3 * width * width + 9 * width + d.shape.gpt.rotary);
}

/// out = a product of norm number `norm` of x.
static void norm_product(Step& step,
                         int64_t norm,
                         const Pair& pair,
                         int64_t outputs,
                         bool is_gelu,
                         float* out) {
    const int64_t width = step.decoder().shape.gpt.width;
    const float* const bias = pair.bias < 0 ? nullptr : step.weight(pair.bias);
    norm_product_kernel<<<blocks_of_warps(outputs),
                          kThreads,
                          static_cast<size_t>(width) * sizeof(float),
                          step.stream()>>>(
        normed(step, norm), step.weight(pair.weight), bias, out, outputs, is_gelu);
    step.launched(outputs * width + 3 * width + (bias == nullptr ? 1 : 2) * outputs);
}

/// x = x + a product: what a sub-layer gives.
static void product_add(
    Step& step, int64_t sub_layer, const float* in, int64_t inputs, const Pair& pair) {
    const Decoder& d = step.decoder();
    const int64_t width = d.shape.gpt.width;
    product_add_kernel<<<blocks_of_warps(width), kThreads, 0, step.stream()>>>(
        in, step.weight(pair.weight), step.weight(pair.bias), d.x, inputs, width);
    step.launched(width * inputs + inputs + 3 * width);
    step.added(sub_layer);
}
// #endregion v4-launches
