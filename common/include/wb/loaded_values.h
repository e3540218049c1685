/// wb/loaded_values.h: are numbers in device memory of any use? Asked once, when
/// weights have been loaded, and not by each call.
///
/// A launcher does not see what is in device memory, and must not wait for it. So a
/// scale that is NaN goes through it, to a column of each y. These functions look: they
/// copy numbers to the host and wait for them. Nothing is written on the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace wb {

/// How a scale is stored: a float, a half, or a byte of FP8 or of a power of two.
enum class ScaleType { fp32, fp16, e4m3, e8m0 };

/// Scales in device memory, and what they are factors of.
struct LoadedScales {
    const char* name;   ///< of the parameter, as messages have it
    const void* begin;  ///< [count]
    ScaleType type;
    int64_t count;
    /// [count, bytes_of_group] the numbers that each scale belongs to. If all of them
    /// are 0, their scale may be 0, too. Null: no scale may be 0.
    const void* numbers = nullptr;
    int64_t bytes_of_group = 0;
    uint8_t digits = 0xFF;  ///< the bits of a byte of numbers that no 0 has
};

/// Refuses scales that are NaN or infinite, or 0 where the above does not allow it.
///
/// @param function  the name that starts the message
/// @param stream    behind whose work the scales are read; the function waits for it
///
/// Traffic  reads the scales, to the host, and numbers whose scale is 0
/// Throws   wb::InvalidArgument for the first wrong scale: "name[5] is NaN, but ...";
///          wb::CudaError where the stream is being captured
void check_scales(const char* function,
                  const LoadedScales& scales,
                  cudaStream_t stream);

/// Refuses indices that are not in [0, limit), likewise.
///
/// @param indices  [count] device memory
void check_indices(const char* function,
                   const char* name,
                   const int32_t* indices,
                   int64_t count,
                   int64_t limit,
                   cudaStream_t stream);

}  // namespace wb
