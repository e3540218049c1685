// For which side nvcc compiles a piece of code, and whether it is evaluated there.
#pragma once

#include <unordered_map>

#include "structure.h"

namespace rewriter {

/// The side that a function's body is compiled for.
enum class Side {
    unknown,  // not compiled, or for both sides, or not certain
    host,
    device,
};

/// nvcc looks at the calls of a function only if it generates code for it. It does so
/// for kernels and for `__device__` functions that other files might call; for inline
/// functions, members and templates only if such a function mentions them.
class DeviceCode {
 public:
    DeviceCode(const Source& source, const Structure& structure);

    /// For which side the statement at token i is compiled.
    Side side(size_t i) const;
    /// Is token i device code, perhaps of a `__host__ __device__` function?
    bool is_device_or_both(size_t i) const;
    /// Is what stands at token i evaluated? Not so in sizeof and its like, nor where an
    /// `if constexpr` may have discarded it.
    bool is_evaluated(size_t i) const;
    /// The innermost bracket ( [ { around token i, or kNone.
    size_t enclosing(size_t i) const { return enclosing_[i]; }
    /// First token of the statement around token i.
    size_t statement(size_t i) const;
    /// Is the function a template, or a member of one?
    bool is_template(const Function& f) const;
    /// A user's function whose class is defined inside a function?
    bool is_local(const Function& f) const;
    /// `__global__ function("k")`, for messages.
    std::string describe(size_t i) const;

 private:
    /// The lambdas around a token, as far as they matter.
    struct Lambdas {
        bool device = false;   // one is marked __device__
        bool unclear = false;  // generic, or never mentioned again
    };
    void find_enclosing();
    void find_live_functions();
    bool is_root(const Function& f) const;
    bool is_alone(const Function& f) const;
    Lambdas lambdas_around(size_t i) const;
    bool in_local_class(size_t i) const;
    bool opens_discarded(size_t brace) const;
    bool follows_if_constexpr(size_t i, size_t first) const;

    const Source& source_;
    const Structure& structure_;
    std::vector<size_t> enclosing_;
    std::vector<bool> live_;  // by function
};

}  // namespace rewriter
