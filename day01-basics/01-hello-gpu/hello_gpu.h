/// hello_gpu.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <wb/errors.h>

#include <cstddef>
#include <string>

/// Launches `blocks` blocks of `threads` threads, and every thread writes its own
/// number into its own element: thread t of block b does
///
///     greetings[b * threads + t] = b * threads + t
///
/// @param greetings  [blocks * threads] device memory, written
/// @param blocks     >= 0. Handed to CUDA as it is, 0 included: whether such a launch
/// @param threads    >= 0  is possible is for CUDA to say, and for you to notice
/// @param stream     where the work is queued; the function returns without waiting
///
/// Throws   wb::CudaError if CUDA refuses this launch, with CUDA's error code. That
///          error does not stay behind for somebody else's check, and an error that an
///          earlier call left behind is not mistaken for this launch's.
///          wb::InvalidArgument for a negative number, for more than 2^31 - 1 threads
///          in all, for a null or a host pointer
void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream);

/// What one should know of a GPU before launching anything on it.
struct DeviceSummary {
    std::string name;           ///< "NVIDIA H100 80GB HBM3"
    int major;                  ///< compute capability major.minor; 9.0 on an H100
    int minor;                  ///< ... it decides which instructions there are
    int multiprocessors;        ///< processors that each run several blocks at a time
    int warp_size;              ///< threads that execute an instruction together
    int max_threads_per_block;  ///< a launch with more is refused
    std::size_t memory_bytes;   ///< of the GPU's own memory
};

/// The properties of one device.
///
/// @param device  [0, number of devices)
///
/// Throws   wb::CudaError with cudaErrorInvalidDevice if there is no such device
DeviceSummary describe_device(int device);
