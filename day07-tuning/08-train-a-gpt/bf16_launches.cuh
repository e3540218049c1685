// bf16_launches.cuh: given with this exercise: a launch each of what a step in bf16 is
// made of. There is nothing to write here.
#pragma once

#include <wb/check.h>
#include <wb/launch_kernel.h>

#include <initializer_list>

#include "../../day04-gemm/04-wgmma-tma/wgmma_tma.h"
#include "bf16_norm_backward.cuh"
#include "bf16_sums.cuh"
#include "bf16_weights.cuh"
#include "library.h"

namespace {

// #region step
/// A call, checked: where its arrays are.
struct Bf16Step {
    const Bf16Call& call;
    const Bf16Plan& plan;
    const Bf16SharedArrays& shared;
    cudaStream_t stream;

    Bf16Step(const Bf16Call& of, cudaStream_t on)
        : call(of), plan(*of.plan), shared(of.plan->shared), stream(on) {}

    template <class T = Bf16>
    T* at(int64_t offset) const {
        return reinterpret_cast<T*>(static_cast<char*>(call.memory) + offset);
    }
    const Bf16* weight(int64_t place) const { return at(shared.weights) + place; }
    /// Where partial sums of a column go.
    float* sum(int64_t column) const { return at<float>(shared.sums) + column; }

    int64_t tokens() const { return plan.tokens(); }
    int64_t width() const { return plan.shape.width; }
    int64_t hidden() const { return plan.shape.hidden; }
    bool is_parallel() const { return plan.shape.is_parallel; }
};

/// Blocks for a thread for each of so many.
unsigned blocks_of(int64_t count) {
    return wb::grid_size(count, kBf16Threads);
}
// #endregion step

// #region sums-launch
/// What is turned, and which columns of the sums its own are; -1: none.
Turned turned_of(
    const Bf16Step& s, int64_t to, int64_t columns, int64_t sums, int64_t also = -1) {
    return {static_cast<uint32_t>(s.tokens()),
            static_cast<uint32_t>(columns),
            to < 0 ? nullptr : s.at(to),
            sums < 0 ? nullptr : s.sum(sums),
            also < 0 ? nullptr : s.sum(also),
            static_cast<uint32_t>(s.plan.sum_columns())};
}

/// Turns what the source has, and adds up its columns.
template <class Source>
void turn(const Bf16Step& s, const Source& source, const Turned& out) {
    const dim3 grid(wb::grid_size(out.columns, kTurn),
                    wb::grid_size(s.tokens(), kTurn));
    turn_kernel<<<grid, kBf16Threads, 0, s.stream>>>(source, out);
    CUDA_CHECK_LAUNCH();
}

/// All partial sums become gradients.
void add_sums(const Bf16Step& s) {
    const SumPlaces places = SumPlaces::of(s.plan);
    bf16_sums_kernel<<<wb::grid_size(places.columns, wb::kWarpSize),
                       dim3(wb::kWarpSize, kSumThreads),
                       0,
                       s.stream>>>(
        s.sum(0),
        static_cast<uint32_t>(wb::ceil_div(s.tokens(), int64_t{kTurn})),
        places,
        s.call.gradients);
    CUDA_CHECK_LAUNCH();
}
// #endregion sums-launch

// #region norm-launch
/// A norm: its parameters, what it gives, and where its sums are.
struct NormOf {
    const ParameterPair& p;
    const Bf16NormArrays& arrays;
    int64_t dy = -1;    ///< on the way back
    int64_t sums = -1;  ///< on the way back: of gamma; those of beta follow
};

/// y of one norm of x, or of two. mean and rstd are kept with the first.
void normalise(const Bf16Step& s, int64_t x, std::initializer_list<NormOf> norms) {
    NormForward n = {};
    n.rows = static_cast<uint32_t>(s.tokens());
    n.columns = static_cast<uint32_t>(s.width());
    n.x = s.at(x);
    n.mean = s.at<float>(norms.begin()->arrays.mean);
    n.rstd = s.at<float>(norms.begin()->arrays.rstd);
    n.eps = static_cast<float>(s.plan.shape.eps);
    int i = 0;
    for (const NormOf& norm : norms) {
        n.gamma[i] = s.weight(norm.p.weight);
        n.beta[i] = s.weight(norm.p.bias);
        n.y[i++] = s.at(norm.arrays.y);
    }
    bf16_norm_kernel<<<blocks_of(s.tokens() * 8), kBf16Threads, 0, s.stream>>>(n);
    CUDA_CHECK_LAUNCH();
}

/// out = the gradient of x, + add if that is not -1.
///
/// @param norms  of x: one or two, as normalise() had them
template <int kNorms>
void normalise_backward(const Bf16Step& s,
                        int64_t x,
                        const NormOf (&norms)[kNorms],
                        int64_t add,
                        int64_t out,
                        const Turned& turned) {
    NormBackward<kNorms> n = {};
    n.rows = turned.rows;
    n.columns = turned.columns;
    n.x = s.at(x);
    n.mean = s.at<float>(norms[0].arrays.mean);
    n.rstd = s.at<float>(norms[0].arrays.rstd);
    n.add = add < 0 ? nullptr : s.at(add);
    n.out = s.at(out);
    n.turned = turned;
    for (int i = 0; i < kNorms; ++i) {
        n.dy[i] = s.at(norms[i].dy);
        n.gamma[i] = s.weight(norms[i].p.weight);
        n.sums[2 * i] = s.sum(norms[i].sums);
        n.sums[2 * i + 1] = s.sum(norms[i].sums + s.width());
    }
    wb::launch_kernel(bf16_norm_backward_kernel<kNorms>,
                      wb::grid_size(s.tokens(), kTurn),
                      kNormThreads,
                      sizeof(NormShared<kNorms>),
                      s.stream,
                      n);
}
// #endregion norm-launch

// #region layer
/// y = x w^T + bias + residual, -1: none. x is [tokens, inputs], w [outputs, inputs], y
/// [tokens, outputs].
void layer(const Bf16Step& s,
           int64_t x,
           int64_t w,
           int64_t y,
           int64_t outputs,
           int64_t inputs,
           int64_t bias,
           int64_t residual = -1) {
    product_forward(
        {s.tokens(), outputs, inputs},
        s.at(x),
        s.weight(w),
        {bias < 0 ? nullptr : s.weight(bias), residual < 0 ? nullptr : s.at(residual)},
        s.at(y),
        s.stream);
}

/// hidden = GELU(z).
void gelu(const Bf16Step& s, int64_t z, int64_t hidden) {
    const int64_t count = s.tokens() * s.hidden() / 8;
    bf16_gelu_kernel<<<blocks_of(count), kBf16Threads, 0, s.stream>>>(
        s.at(z), s.at(hidden), static_cast<uint32_t>(count));
    CUDA_CHECK_LAUNCH();
}

/// dx = dy w: chapter 04/04.
void to_inputs(const Bf16Step& s,
               int64_t dy,
               int64_t w,
               int64_t dx,
               int64_t outputs,
               int64_t inputs) {
    const wb::GemmShape shape = {s.tokens(), inputs, outputs};
    if ((s.call.cublas & kInputGradients) != 0)
        return cublas_product(
            shape.packed(), s.at(dy), s.weight(w), s.at(dx), s.stream);
    wgmma_tma_bf16(shape.packed(), s.at(dy), s.weight(w), s.at(dx), s.stream);
}

/// The gradients of matrices, of dy that are turned already.
class WeightGradients {
 public:
    explicit WeightGradients(const Bf16Step& step) : s_(step) {}

    void add(int64_t turned_dy, int64_t x, int64_t w, int64_t outputs, int64_t inputs) {
        products_[count_++] = {
            s_.at(turned_dy), s_.at(x), s_.call.gradients + w, outputs, inputs};
    }
    void launch() const {
        if ((s_.call.cublas & kWeightGradients) == 0)
            return weight_gradients(products_,
                                    count_,
                                    s_.tokens(),
                                    s_.at<float>(s_.shared.pieces),
                                    s_.stream);
        for (int i = 0; i < count_; ++i) {
            const WeightProduct& p = products_[i];
            const wb::GemmShape shape = {p.outputs, p.inputs, s_.tokens()};
            cublas_product(shape.packed(), p.dy_turned, p.x, p.dw, s_.stream);
        }
    }

 private:
    const Bf16Step& s_;
    WeightProduct products_[kMostTogether] = {};
    int count_ = 0;
};
// #endregion layer

}  // namespace
