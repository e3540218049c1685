#pragma once
// The CUDA runtime's error codes and the functions that report them.
//
// As in CUDA, an error is one of two kinds. A refused call returns its code, changes
// nothing, and leaves the code behind as the host thread's "last error". A fault in a
// kernel destroys the context: every later call returns that code until
// cudaDeviceReset.

/// Result of every runtime call; the numbers are CUDA 13's.
enum cudaError {
#define SIMT_CUDA_ERROR(name, number, text) name = number,
#include "error_list.inc"
#undef SIMT_CUDA_ERROR
};
using cudaError_t = cudaError;

/// The last error of this host thread, which is reset to cudaSuccess (unless the
/// context is destroyed: that error stays).
cudaError_t cudaGetLastError();

/// The last error of this host thread, left in place.
cudaError_t cudaPeekAtLastError();

/// The enumerator's name, or "unrecognized error code".
const char* cudaGetErrorName(cudaError_t error);

/// CUDA's one-line description, or "unrecognized error code".
const char* cudaGetErrorString(cudaError_t error);
