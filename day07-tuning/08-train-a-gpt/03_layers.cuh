// 03_layers.cuh: given with this exercise: norms, products and what is added to them.
// There is nothing to write here.
#pragma once

#include <wb/row_sums.h>

#include "../../day03-parallel-patterns/04-layernorm/layernorm.h"
#include "../../day04-gemm/01-sgemm/sgemm.h"
#include "call.h"

/// out.y = norm of x, whose rows have statistics that the way back reads.
inline void normalise(const Step& s,
                      const ParameterPair& p,
                      int64_t x,
                      const NormArrays& out) {
    layer_norm({s.at(x),
                s.weight(p.weight),
                s.weight(p.bias),
                s.at(out.y),
                s.at(out.mean),
                s.at(out.rstd),
                s.tokens(),
                s.width(),
                static_cast<float>(s.plan.shape.eps)},
               s.stream);
}

/// dx, and the gradients of the norm's parameters, from dy.
inline void normalise_backward(const Step& s,
                               const ParameterPair& p,
                               int64_t dy,
                               int64_t x,
                               const NormArrays& out,
                               int64_t dx) {
    layer_norm_backward({s.at(dy),
                         s.at(x),
                         s.weight(p.weight),
                         s.at(out.mean),
                         s.at(out.rstd),
                         s.at(dx),
                         s.gradient(p.weight),
                         s.gradient(p.bias),
                         s.tokens(),
                         s.width()},
                        s.stream);
}

// #region product
/// How a product's result meets what is there.
enum class Result { replaces, is_added };

/// C = op(A) op(B) + beta C, by chapter 04/01 or by cuBLAS, as the call has it.
inline void multiply(const Step& s,
                     ProductKind kind,
                     const wb::GemmShape& shape,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C) {
    if ((s.call.cublas & kind) != 0)
        return cublas_product(shape.packed(), A, B, beta, C, s.stream);
    sgemm(shape.packed(), 1.0f, A, B, beta, C, s.stream);
}

/// y = x w^T, or y += x w^T. x is [tokens, inputs], w [outputs, inputs], y [tokens,
/// outputs].
inline void product(const Step& s,
                    int64_t x,
                    int64_t w,
                    int64_t y,
                    int64_t outputs,
                    int64_t inputs,
                    Result result = Result::replaces) {
    wb::GemmShape shape = {s.tokens(), outputs, inputs};
    shape.transpose_b = true;
    const float beta = result == Result::is_added ? 1.0f : 0.0f;
    multiply(s, kOutputs, shape, s.at(x), s.weight(w), beta, s.at(y));
}

/// dx = dy w, and dw = dy^T x.
inline void product_backward(const Step& s,
                             int64_t dy,
                             int64_t x,
                             int64_t w,
                             int64_t dx,
                             int64_t outputs,
                             int64_t inputs) {
    const wb::GemmShape to_x = {s.tokens(), inputs, outputs};
    multiply(s, kInputGradients, to_x, s.at(dy), s.weight(w), 0.0f, s.at(dx));
    wb::GemmShape to_w = {outputs, inputs, s.tokens()};
    to_w.transpose_a = true;
    multiply(s, kWeightGradients, to_w, s.at(dy), s.at(x), 0.0f, s.gradient(w));
}

/// The gradient of a bias: dbias[c] = sum over t of dy[t, c], in the same order each
/// time.
inline void bias_backward(const Step& s, int64_t dy, int64_t bias, int64_t columns) {
    const auto blocks =
        static_cast<unsigned>(wb::ceil_div(columns, int64_t{wb::kWarpSize}));
    wb::part_sums_kernel<float>
        <<<dim3(blocks), dim3(wb::kWarpSize, wb::kWarpSize), 0, s.stream>>>(
            s.at(dy), s.tokens(), columns, s.gradient(bias), nullptr);
    CUDA_CHECK_LAUNCH();
}
// #endregion product

// #region residual
/// y[t, c] = x[t, c] + bias[c] + other[c], before products are added to y.
///
/// Launch   a thread for each element, block kElementThreads
/// Traffic  reads and writes 4 B an element
__global__ void __launch_bounds__(kElementThreads)
    residual_kernel(const float* x,      // [tokens, width]
                    const float* bias,   // [width]
                    const float* other,  // [width], or null: 0
                    float* y,            // [tokens, width]
                    int64_t count,
                    int64_t width) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= count) return;
    const int64_t col = at % width;
    const float sum = x[at] + bias[col];
    y[at] = other == nullptr ? sum : sum + other[col];
}

/// d += a + b.
///
/// Launch   a thread for each element, block kElementThreads
/// Traffic  reads 8 B or 12 B an element, writes 4 B
__global__ void __launch_bounds__(kElementThreads)
    add_kernel(float* d,        // [count]
               const float* a,  // [count]
               const float* b,  // [count], or null: 0
               int64_t count) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= count) return;
    const float sum = d[at] + a[at];
    d[at] = b == nullptr ? sum : sum + b[at];
}
// #endregion residual

/// y = x + bias, or x + bias + other.
inline void begin_residual(
    const Step& s, int64_t x, int64_t bias, const int64_t* other, int64_t y) {
    const int64_t count = s.tokens() * s.width();
    residual_kernel<<<wb::grid_size(count, kElementThreads),
                      kElementThreads,
                      0,
                      s.stream>>>(s.at(x),
                                  s.weight(bias),
                                  other == nullptr ? nullptr : s.weight(*other),
                                  s.at(y),
                                  count,
                                  s.width());
    CUDA_CHECK_LAUNCH();
}

/// d += a, or a + b.
inline void add(const Step& s, int64_t d, int64_t a, const int64_t* b = nullptr) {
    const int64_t count = s.tokens() * s.width();
    add_kernel<<<wb::grid_size(count, kElementThreads), kElementThreads, 0, s.stream>>>(
        s.at(d), s.at(a), b == nullptr ? nullptr : s.at(*b), count);
    CUDA_CHECK_LAUNCH();
}

// #region gelu
/// sqrt(2 / pi), and the factor of the cube: what GELU takes the tanh of is
/// kGeluScale * (z + kGeluCube * z^3).
inline constexpr float kGeluScale = 0.797884561f;
inline constexpr float kGeluCube = 0.044715f;

/// z += bias, and hidden = 0.5 z (1 + tanh(u)), with u as above.
///
/// Launch   a thread for each element, block kElementThreads
/// Traffic  reads 4 B, writes 8 B an element
__global__ void __launch_bounds__(kElementThreads)
    bias_gelu_kernel(float* z,           // [tokens, columns]
                     const float* bias,  // [columns]
                     float* hidden,      // [tokens, columns]
                     int64_t count,
                     int64_t columns) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= count) return;
    const float value = z[at] + bias[at % columns];
    z[at] = value;
    const float u = kGeluScale * (value + kGeluCube * value * value * value);
    // 1 + tanh(u) is 2 / (1 + exp(-2 u)), which keeps its digits where it is small.
    hidden[at] = value / (1.0f + expf(-2.0f * u));
}
// #endregion gelu

inline void bias_gelu(const Step& s, int64_t z, int64_t bias, int64_t hidden) {
    const int64_t count = s.tokens() * s.hidden();
    bias_gelu_kernel<<<wb::grid_size(count, kElementThreads),
                       kElementThreads,
                       0,
                       s.stream>>>(
        s.at(z), s.weight(bias), s.at(hidden), count, s.hidden());
    CUDA_CHECK_LAUNCH();
}
