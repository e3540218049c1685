/// losses.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// Everywhere:
//
// All arrays are in device memory. They begin at any element, inputs are read only, and
// an output shares no byte with any other array.
//
// stream     where the work is queued; the functions return without waiting
// Same bits  Each result has the same bits in every run: no order of additions depends
//            on the order in which blocks run
// NaN        in an element that counts makes what depends on it NaN, nothing else
// Error      of a sum: gamma_k of float, times the sum of the absolute values. A
//            partial sum may have max(128, columns / 32) terms of a row, so k is that
//            and 40 more; of a mean of n, 40 + n / 256; but never more than there are
//            terms. In addition 24 for what the formula of a term rounds
// Throws     wb::InvalidArgument for a negative size, a product of sizes past 2^63, a
//            null, host or misaligned pointer, arrays that overlap, a parameter that is
//            not finite or out of its range

// #region l2
/// Rows that become vectors of length 1.
struct L2Shape {
    int64_t rows;     ///< 0 to 2^31 - 1
    int64_t columns;  ///< >= 0; of 0 rows or columns nothing is written
    float eps;        ///< > 0, the length below which a row is not stretched further
};

/// Each row becomes a vector of length 1:
///
///     norms[r] = sqrt(x[r, 0]^2 + x[r, 1]^2 + ...)
///     y[r, c]  = x[r, c] / max(norms[r], eps)
///
/// A row that is shorter than eps, a row of zeros too, is divided by eps: it stays
/// finite. If the squares add up to 2^128 or more, norms[r] is infinite.
///
/// @param x, y     [rows, columns] row-major
/// @param norms    [rows] written: the backward pass needs them
///
/// Traffic  reads rows * columns * 4 B, writes rows * (columns + 1) * 4 B
void l2_normalize(
    const float* x, float* y, float* norms, const L2Shape& shape, cudaStream_t stream);

/// The gradient of a loss by x, from dy, its gradient by y:
///
///     dx[r, c] = (dy[r, c] - y[r, c] * (the sum over k of y[r, k] * dy[r, k])) / norm
///
/// and dy[r, c] / eps where norms[r] < eps: there y is x / eps, nothing else.
///
/// @param dy, y, dx  [rows, columns]
/// @param norms      [rows]
///
/// Traffic  reads rows * (2 * columns + 1) * 4 B, writes rows * columns * 4 B
void l2_normalize_backward(const float* dy,
                           const float* y,
                           const float* norms,
                           float* dx,
                           const L2Shape& shape,
                           cudaStream_t stream);
// #endregion l2

// #region bce
/// Answers to n questions that have the answers no, 0, and yes, 1, or one in between.
struct BceInput {
    const float* logits;      ///< [n] sigmoid(logits[i]) is the probability of yes
    const float* targets;     ///< [n] in [0, 1]
    const float* weights;     ///< [n], or null: each counts once
    float pos_weight = 1.0f;  ///< what a yes counts, >= 0
    int64_t n;
};

/// The mean of the binary cross entropies. With softplus(x) = log(1 + exp(x)), and the
/// target t, the logit x and the weight w of element i,
///
///     loss_i = w * (t * pos_weight * softplus(-x) + (1 - t) * softplus(x))
///     *loss  = (loss_0 + ... + loss_(n-1)) / n
///
/// which is finite for every finite x, if the sum is below 2^128. It is divided by n,
/// not by the weights' sum. The mean of no elements is 0.
///
/// @param loss  [1] written
///
/// Traffic  reads n * 8 B, with weights n * 12 B
void bce_with_logits(const BceInput& in, float* loss, cudaStream_t stream);

/// Its gradient by the logits, times *grad_loss:
///
///     dlogits[i] = *grad_loss / n * w * ((1 - t) * sigmoid(x) - t * pos_weight *
///                  sigmoid(-x))
///
/// @param grad_loss  [1]
/// @param dlogits    [n] written
///
/// Traffic  reads n * 8 B, with weights n * 12 B; writes n * 4 B
void bce_with_logits_backward(const BceInput& in,
                              const float* grad_loss,
                              float* dlogits,
                              cudaStream_t stream);
// #endregion bce

// #region draw
/// Draws items at random, with replacement: from the same seed and step the same ones,
/// on every GPU and for every grid. wb/philox.h scrambles the counter made of the 64
/// bits of i and the 64 bits of step, the lower halves first:
///
///     w      = philox({i, i >> 32, step, step >> 32}, seed)
///     ids[i] = floor((w[0] + 2^32 * w[1]) * items / 2^64)
///
/// @param ids    [count] written; of 0 nothing is
/// @param items  >= 1; ids are in [0, items)
///
/// Traffic  writes count * 4 B
void draw_negatives(uint64_t seed,
                    uint64_t step,
                    int32_t* ids,
                    int64_t count,
                    int32_t items,
                    cudaStream_t stream);
// #endregion draw

// #region sampled
/// Logits of queries: each with the one item that was right, its positive, and with
/// items that were drawn at random, the same ones for all queries.
///
/// The queries are the entries of a jagged batch (day 2, chapter 05): those of user b
/// are offsets[b], ..., offsets[b + 1] - 1. So the first offsets[batch] queries are
/// real; the arrays may have room for more, and what is there must not count. The host
/// does not know how many are real.
struct SampledInput {
    const float* positive;        ///< [queries] logit of a query with its own item
    const float* negative;        ///< [queries, negatives] with each drawn item
    const int32_t* positive_ids;  ///< [queries] which item that is
    const int32_t* negative_ids;  ///< [negatives] which items were drawn
    const float* positive_log_q;  ///< [queries], or null: 0
    const float* negative_log_q;  ///< [negatives], or null: 0
    const int64_t* offsets;       ///< [batch + 1]
    int64_t batch;                ///< users, 0 to 2^31 - 1
    int64_t queries;              ///< that there is room for, 0 to 2^31 - 1
    int64_t negatives;            ///< >= 0
};

/// The softmax loss with few items in place of all. An item that is drawn more often
/// counts too often: log_q is the logarithm of how often it is expected in the sample,
/// and is taken away from the logit. With s = positive[r] - positive_log_q[r] and
/// s_c = negative[r, c] - negative_log_q[c]:
///
///     losses[r] = log(exp(s) + the sum over c of exp(s_c)) - s
///     *loss     = the mean of losses over the real queries, 0 if there are none
///
/// without those c whose item is the positive one: it was drawn by accident, and is no
/// negative. If no negative is left, losses[r] is 0. losses of room that is not used is
/// 0. A last offset below 0 or above queries counts as 0 or queries.
///
/// Infinities: as losses[r] = softplus(log(the sum over c of exp(s_c)) - s) gives them,
/// where the logarithm is -inf if no exp(s_c) is left or all are 0, and NaN if an s_c
/// is +inf.
///
/// @param losses  [queries] written: the backward pass needs them
/// @param loss    [1] written
///
/// Error    of losses[r]: besides the sum's, a unit of float for each unit of |s| and
///          of the largest |s_c|, in proportion to 1 - exp(-losses[r])
/// Traffic  reads queries * negatives * 4 B, and little else
void sampled_softmax(const SampledInput& in,
                     float* losses,
                     float* loss,
                     cudaStream_t stream);

/// Its gradient by the logits, times *grad_loss. With g = *grad_loss / real queries
///
///     dpositive[r]    = g * (exp(-losses[r]) - 1)
///     dnegative[r, c] = g * exp(s_c - s - losses[r]), and 0 for an accidental hit
///
/// and 0, all of it, for room that is not used.
///
/// @param losses     [queries] as sampled_softmax() has written them
/// @param grad_loss  [1]
/// @param dpositive  [queries] written
/// @param dnegative  [queries, negatives] written
///
/// Traffic  reads and writes queries * negatives * 4 B, and little else
void sampled_softmax_backward(const SampledInput& in,
                              const float* losses,
                              const float* grad_loss,
                              float* dpositive,
                              float* dnegative,
                              cudaStream_t stream);
// #endregion sampled
