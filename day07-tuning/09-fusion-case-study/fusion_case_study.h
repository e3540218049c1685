/// fusion_case_study.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// #region steps
/// How the numbers of a step's result depend on what it reads, and which blocks compute
/// them.
enum class Spread : int32_t {
    element = 0,  ///< each needs those at its own place: any block may have any of them
    head = 1,     ///< each needs those of its head: a block for each head
    rows = 2,     ///< each needs all of them, as in a product: shared out among blocks
    whole = 3,    ///< each needs all of them: one block has them all, as in a norm
};

/// A step of the decoder: one launch. Bits of a mask stand for the arrays of a step.
struct StepInfo {
    const char* name;
    Spread spread;
    uint32_t reads;   ///< arrays
    uint32_t writes;  ///< arrays; one that is read, too, is updated in place
};

/// May two steps be one launch?
enum class Verdict : int32_t {
    unrelated = 0,  ///< the second reads nothing that the first writes: nothing to gain
    between = 1,    ///< a step between them needs the first and is needed by the second
    waits = 2,      ///< blocks would have to wait for numbers of other blocks
    repeats = 3,    ///< yes, if every block of the second computes the first again
    fuses = 4,      ///< yes
};

struct Diagnosis {
    Verdict verdict;
    uint32_t stores;  ///< arrays that one launch for both still has to store
};
// #endregion steps

/// Says whether steps `first` and `second` of a list may be one launch.
///
///     unrelated  no bit of steps[first].writes is in steps[second].reads
///     between    there is a chain from first to second over one or more steps between
///                them. Step b hangs on an earlier step a if one of them writes what
///                the other reads or writes
///     else, by the spreads of first (left) and second (above):
///
///                element    head       rows       whole
///     element    fuses      fuses      repeats    fuses
///     head       fuses      fuses      waits      waits
///     rows       fuses      fuses      waits      waits
///     whole      fuses      repeats    repeats    fuses
///
/// `stores`, where the verdict is repeats or fuses, else 0: of the arrays that first or
/// second writes those that a step behind second reads before any step has overwritten
/// them without reading them, and those of `kept` that no step behind second
/// overwrites in this way.
///
/// @param steps  [count] host memory, in the order in which they run
/// @param kept   arrays that are read when all steps are done, such as the cache
///
/// Throws wb::InvalidArgument unless 0 <= first < second < count, and for a spread that
/// is none
Diagnosis diagnose(
    const StepInfo* steps, int count, uint32_t kept, int first, int second);

// #region add-norm
/// The sum at the end of a sub-layer and the LayerNorm that follows it. Device memory;
/// x and n are written, and share no element with another array.
struct AddNorm {
    float* x;            ///< [width] the hidden state, updated
    const float* delta;  ///< [width] what the sub-layer gave
    const float* gamma;  ///< [width] factors
    const float* beta;   ///< [width] summands
    float* n;            ///< [width] what the next sub-layer reads
    int64_t width;       ///< 1 to 8192
    float eps;           ///< >= 0, finite
    int32_t* calls;      ///< [1] the kernel adds 1, or null: nobody counts
};
// #endregion add-norm

/// x = x + delta and n = (x - mean) * rstd * gamma + beta, with the new x, in one
/// launch of one block:
///
///     mean = sum of x[c] / width
///     rstd = 1 / sqrt(sum of (x[c] - mean)^2 / width + eps)
///
/// Launch   one block, a multiple of 32 threads
/// Traffic  reads width * 16 B, writes width * 8 B
/// Error    x is rounded once. n as in day03-parallel-patterns/04-layernorm, of the x
///          that is stored
/// NaN      or an infinity in a row makes all of n NaN
/// stream   where the work is queued; the function returns without waiting
/// Throws   wb::InvalidArgument for a width or eps outside of these ranges, a null,
///          host or misaligned pointer, and arrays that overlap
void add_norm(const AddNorm& call, cudaStream_t stream);

class Step;

/// One token of the model: calls of step.h, in an order that is right and has fewer
/// launches than unfused_step().
///
/// What it computes is what unfused_step() of step.h computes, in models with parallel
/// and with sequential layers; hidden states are compared behind every sub-layer.
///
/// Launches  sequential layers: 7 for each layer, and 4
///           parallel layers: 8 for each layer, and 4
///           "Go faster": 5 for each layer, and 3
/// stream    that of the step; the function returns without waiting
void decode_step(Step& step);
