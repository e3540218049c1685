/// wb/errors.h: what the workbook's functions throw, for who catches it.
///
/// The headers that kernels include do not need this one: <string> and its kin take
/// longer to compile than most kernels, and nvcc reads them three times.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wb {

/// An argument that a launcher refuses.
class InvalidArgument : public std::invalid_argument {
 public:
    using std::invalid_argument::invalid_argument;
};

/// A CUDA runtime call that did not return cudaSuccess.
class CudaError : public std::runtime_error {
 public:
    /// @param file, line  of the call, if they are known
    CudaError(cudaError_t code,
              const std::string& message,
              const char* file = "",
              int line = 0)
        : std::runtime_error(message), code_(code), file_(file), line_(line) {}

    /// The error code that the call returned.
    cudaError_t code() const { return code_; }
    const char* file() const { return file_; }
    int line() const { return line_; }

 private:
    cudaError_t code_;
    const char* file_;  // a literal: __FILE__
    int line_;
};

/// Thrown by WB_NOT_SOLVED(). The message names the file and the lines of its TODOs.
class NotSolved : public std::logic_error {
 public:
    struct Place {
        std::string file;
        int line;
    };
    explicit NotSolved(const std::string& message, std::vector<Place> todos = {})
        : std::logic_error(message), todos_(std::move(todos)) {}

    /// Where there is something to write.
    const std::vector<Place>& todos() const { return todos_; }

 private:
    std::vector<Place> todos_;
};

/// A block table, a length or a position that kernels could not use; see PagedStatus.
class PagedCacheError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A pattern that no kernel can use, and why.
class PatternError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Lengths or offsets that no kernel can use, and why; see JaggedStatus.
class JaggedError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

namespace detail {

/// The text of a failed check: `expression` failed: NAME (description) at file:line.
std::string check_message(const char* expression,
                          const char* name,
                          const char* description,
                          const char* file,
                          int line);

}  // namespace detail
}  // namespace wb
