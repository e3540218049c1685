// 01_tokens.cuh: given with this exercise: from bytes to vectors, and what rotation
// needs. There is nothing to write here.
#pragma once

#include "../../day02-memory/04-embedding-lookup/embedding_lookup.h"
#include "angle.cuh"
#include "call.h"

// #region split-tokens
/// inputs[t] = tokens[b, i] and targets[t] = tokens[b, i + 1], for t = b * length + i.
/// A token that is no byte is taken for 0; it adds 1 to *bad, once.
///
/// Launch   a thread for each of tokens, block kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    split_tokens_kernel(const int32_t* tokens,  // [batch, length + 1]
                        int64_t batch,
                        int64_t length,
                        int64_t* inputs,   // [batch * length]
                        int32_t* targets,  // [batch * length]
                        unsigned long long* bad) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= batch * (length + 1)) return;
    int32_t token = tokens[at];
    if (token < 0 || token >= wb::model::kVocabulary) {
        atomicAdd(bad, 1ull);
        token = 0;
    }
    const int64_t i = at % (length + 1);
    const int64_t t = at / (length + 1) * length + i;
    if (i < length) inputs[t] = token;
    if (i > 0) targets[t - 1] = token;
}
// #endregion split-tokens

// #region angles
/// angles[p, j] = angle_of(p, j, rotary).
///
/// Launch   a thread for each pair, block kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    angles_kernel(float2* angles,  // [length, rotary / 2]
                  int64_t length,
                  int64_t rotary) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    const int64_t half = rotary / 2;
    if (at >= length * half) return;
    angles[at] = angle_of(at / half, at % half, rotary);
}
// #endregion angles

/// Inputs and targets, and the angles of their positions.
inline void read_tokens(const Step& s) {
    const StepPlan& p = s.plan;
    const int64_t count = p.batch * (p.length + 1);
    split_tokens_kernel<<<wb::grid_size(count, kElementThreads),
                          kElementThreads,
                          0,
                          s.stream>>>(s.call.tokens,
                                      p.batch,
                                      p.length,
                                      s.at<int64_t>(p.inputs),
                                      s.at<int32_t>(p.targets),
                                      s.call.bad_tokens);
    CUDA_CHECK_LAUNCH();
    const int64_t pairs = p.length * (p.shape.rotary / 2);
    if (pairs == 0) return;
    angles_kernel<<<wb::grid_size(pairs, kElementThreads),
                    kElementThreads,
                    0,
                    s.stream>>>(s.at<float2>(p.angles), p.length, p.shape.rotary);
    CUDA_CHECK_LAUNCH();
}

/// Which rows of the table are meant, as chapter 02/04 takes it.
inline Lookup lookup_of(const Step& s) {
    return {s.at<const int64_t>(s.plan.inputs),
            s.tokens(),
            wb::model::kVocabulary,
            s.width(),
            s.call.bad_tokens};
}

/// x[t] = table[inputs[t]].
inline void embed(const Step& s, int64_t x) {
    embedding(s.weight(s.plan.parameters.embed_in), s.at(x), lookup_of(s), s.stream);
}

// #region table-gradient
/// gradient[r] = sum of d[t] over the t with inputs[t] == r, in the order of t: the
/// same bits each time, which chapter 02/04 does not promise.
///
/// Launch   grid (256, ceil_div(width, kElementThreads)), block kElementThreads
/// Traffic  each block reads all inputs, most of them from the L2 cache
__global__ void __launch_bounds__(kElementThreads)
    table_gradient_kernel(const float* d,         // [tokens, width]
                          const int64_t* inputs,  // [tokens]
                          int64_t tokens,
                          int64_t width,
                          float* gradient) {  // [256, width]
    const int64_t col = int64_t{blockIdx.y} * kElementThreads + threadIdx.x;
    if (col >= width) return;
    const int64_t row = blockIdx.x;
    float sum = 0.0f;
    for (int64_t t = 0; t < tokens; ++t)
        if (inputs[t] == row) sum += d[t * width + col];
    gradient[row * width + col] = sum;
}
// #endregion table-gradient

/// The gradient of the table.
inline void embed_backward(const Step& s, int64_t d) {
    float* const gradient = s.gradient(s.plan.parameters.embed_in);
    if (!s.call.deterministic)
        return embedding_backward(s.at(d), gradient, lookup_of(s), -1, s.stream);
    const auto columns =
        static_cast<unsigned>(wb::ceil_div(s.width(), int64_t{kElementThreads}));
    table_gradient_kernel<<<dim3(unsigned{wb::model::kVocabulary}, columns),
                            kElementThreads,
                            0,
                            s.stream>>>(
        s.at(d), s.at<const int64_t>(s.plan.inputs), s.tokens(), s.width(), gradient);
    CUDA_CHECK_LAUNCH();
}
