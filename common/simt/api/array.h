#pragma once
// CUDA arrays: memory with an element format and up to three dimensions. Their layout
// is hidden in CUDA; here rows follow each other without gaps.

#include "simt/api/texture_types.h"

struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent;  // in elements; 0 where there is no such dimension
    unsigned int flags;
    char* data;

    size_t element_bytes() const {
        return static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
    }
    size_t pitch() const { return extent.width * element_bytes(); }
    size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
    size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
    /// The array as pitched memory.
    cudaPitchedPtr pitched() const { return {data, pitch(), pitch(), rows()}; }
};

namespace simt::detail {

/// True for an array that exists.
bool is_array(cudaArray_const_t array);

/// Replaces the arrays of a copy by their memory, with all sizes in bytes. False if an
/// array does not exist.
bool resolve_arrays(cudaMemcpy3DParms& params);

/// Frees all arrays and texture objects (cudaDeviceReset).
void destroy_arrays();

}  // namespace simt::detail
