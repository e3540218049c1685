/// simt/thrust/policy.h: where an algorithm runs, and how it reports errors.
///
/// Every algorithm of this library runs on the calling thread. A policy only decides
/// which stream must have finished before it starts.
#pragma once
#include <concepts>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "cuda_runtime.h"

namespace thrust {
using std::error_code;
using std::system_error;

/// The category of errors whose number is a cudaError_t.
inline const std::error_category& cuda_category() {
    struct Category : std::error_category {
        const char* name() const noexcept override { return "cuda"; }
        std::string message(int error) const override {
            return cudaGetErrorString(static_cast<cudaError_t>(error));
        }
    };
    static const Category category;
    return category;
}

namespace detail {
/// Base of all execution policies.
struct Policy {};
template <class T>
concept IsPolicy = std::derived_from<std::remove_cvref_t<T>, Policy>;

struct HostPolicy : Policy {
    /// The policy with an allocator for temporary memory, which is not needed here.
    template <class Allocator>
    constexpr HostPolicy operator()(Allocator&&) const {
        return *this;
    }
};
/// A device policy: work of `stream` comes first.
struct DevicePolicy : Policy {
    cudaStream_t stream = nullptr;
    constexpr DevicePolicy() = default;
    constexpr explicit DevicePolicy(cudaStream_t s) : stream(s) {}
    /// The policy with a stream.
    constexpr DevicePolicy on(cudaStream_t s) const { return DevicePolicy(s); }
    template <class Allocator>
    constexpr DevicePolicy operator()(Allocator&&) const {
        return *this;
    }
};

/// Throws a system_error if a call of the CUDA runtime failed.
inline void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess)
        throw std::system_error(static_cast<int>(error), cuda_category(), what);
}
inline void wait_for(const HostPolicy&) {}
/// Waits for the stream and throws the error of an earlier kernel, if there was one.
inline void wait_for(const DevicePolicy& policy) {
    if (simt::detail::in_kernel()) return;
    check(cudaStreamSynchronize(policy.stream), "thrust: after an earlier kernel");
}
}  // namespace detail

inline constexpr detail::HostPolicy host{};
inline constexpr detail::HostPolicy seq{};
inline constexpr detail::DevicePolicy device{};

namespace cuda {
inline constexpr detail::DevicePolicy par{};
inline constexpr detail::DevicePolicy par_nosync{};
}  // namespace cuda
namespace omp {
inline constexpr detail::HostPolicy par{};
}  // namespace omp
namespace cpp {
inline constexpr detail::HostPolicy par{};
}  // namespace cpp

namespace system {
namespace cuda = thrust::cuda;
namespace omp = thrust::omp;
namespace cpp = thrust::cpp;
using std::system_error;
}  // namespace system
}  // namespace thrust

/// Defines the form of an algorithm that takes an execution policy first.
#define SIMT_THRUST_WITH_POLICY(algorithm)                       \
    template <::thrust::detail::IsPolicy P, class... Args>       \
    decltype(auto) algorithm(const P& policy, Args&&... args) {  \
        ::thrust::detail::wait_for(policy);                      \
        return ::thrust::algorithm(std::forward<Args>(args)...); \
    }
