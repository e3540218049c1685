/// wb/nccl_error.h: what NCCL_CHECK throws.
#pragma once

#include <stdexcept>
#include <string>

namespace wb {

/// An NCCL call that did not return ncclSuccess.
class NcclError : public std::runtime_error {
 public:
    /// @param code  its ncclResult_t
    NcclError(int code, const std::string& message)
        : std::runtime_error(message), code_(code) {}

    /// The ncclResult_t of the call.
    int code() const { return code_; }

 private:
    int code_;
};

}  // namespace wb
