// `#ifdef __CUDA_ARCH__`: nvcc compiles a file twice, once for each side.
#pragma once

#include <string>

namespace rewriter {

/// Joins what the preprocessor makes of a file with and without __CUDA_ARCH__.
///
/// Where a function for both sides differs, the result decides when it runs; functions
/// of the host are taken from the host's text, all else from the device's.
///
/// @param device  preprocessed with __CUDA_ARCH__
/// @param host    preprocessed without
std::string merge_sides(std::string device, std::string host);

}  // namespace rewriter
