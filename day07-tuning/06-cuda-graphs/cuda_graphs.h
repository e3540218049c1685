/// cuda_graphs.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <memory>

/// The sizes of a very small decoder.
struct DecoderShape {
    int layers = 28;      ///< at least 1
    int width = 256;      ///< numbers of a token, a multiple of 32, at most 1024
    int positions = 256;  ///< tokens that the cache has room for, at most 8192
};

/// Its weights, its cache and its scratch memory, all on the device.
struct Decoder {
    DecoderShape shape;
    const float* query_weights;   ///< [layers, width, width]
    const float* key_weights;     ///< [layers, width, width]
    const float* output_weights;  ///< [layers, width, width]
    float* cache;                 ///< [layers, positions, width]
    float* x;                     ///< [width] the token: in, and out
    float* normed;                ///< [width] scratch
    float* query;                 ///< [width] scratch
    float* key;                   ///< [width] scratch
    float* mixed;                 ///< [width] scratch
    float* delta;                 ///< [width] scratch
};

/// One step, one kernel after the other, on one stream. It is given (decoder.h).
///
///     for each layer l:
///         normed = x / sqrt(mean(x^2))
///         query  = query_weights[l] normed
///         key    = key_weights[l] normed
///         cache[l][position] = key
///         mixed  = sum over p <= position of w[p] cache[l][p], where
///                  w = softmax of query . cache[l][p] / sqrt(width)
///         delta  = output_weights[l] mixed
///         x      = x + delta
///
/// That is 7 kernels a layer. @param position  in [0, shape.positions)
void launch_step(const Decoder& decoder, int position, cudaStream_t stream);

/// Does steps. It keeps what it needs from one step to the next.
class Stepper {
 public:
    virtual ~Stepper() = default;

    /// Queues one step: the same result, bit by bit, as launch_step(). Positions may
    /// come in any order; the host does not wait.
    ///
    /// Throws wb::InvalidArgument for a position outside [0, shape.positions)
    virtual void step(int position, cudaStream_t stream) = 0;
};

/// A stepper for a decoder: `decoder` itself may be gone after the call, the memory
/// that it points to outlives the stepper. One that uses a graph instantiates it once,
/// and updates it when the position changes.
///
/// Throws wb::InvalidArgument for a shape outside the limits of DecoderShape
std::unique_ptr<Stepper> make_stepper(const Decoder& decoder);
