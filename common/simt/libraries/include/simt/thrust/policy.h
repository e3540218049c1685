/// simt/thrust/policy.h: where an algorithm runs, and how it reports errors.
///
/// Every algorithm of this library runs on the calling thread. Its policy, or the
/// memory that its iterators lead to, decides which stream must have finished before it
/// starts and which side of a function with `#ifdef __CUDA_ARCH__` it calls.
#pragma once
#include <algorithm>
#include <concepts>
#include <iterator>
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

/// The time that an algorithm takes: what it calls runs on the policy's side, after the
/// stream's earlier work. What device code calls is device code.
class Run {
 public:
    explicit Run(const HostPolicy&) {}
    explicit Run(const DevicePolicy& policy)
        : begins_(!simt::detail::on_device_side()) {
        if (!begins_) return;
        check(cudaStreamSynchronize(policy.stream), "thrust: after an earlier kernel");
        simt::detail::device_side = true;
    }
    ~Run() {
        if (begins_) simt::detail::device_side = false;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

 private:
    bool begins_ = false;
};

/// Where an argument of an algorithm wants it to run. The larger one decides, as in
/// Thrust; `anywhere`, what an iterator that computes its values says, is the device.
enum class Place { unknown, anywhere, host, device };

/// Specialised for the iterators of this library; other iterators are the host's.
template <class T>
inline constexpr Place place_of = std::input_iterator<T> ? Place::host : Place::unknown;

template <class... Args>
inline constexpr Place place_of_all =
    std::max({Place::unknown, place_of<std::remove_cvref_t<Args>>...});

/// The policy of an algorithm that is called without one.
template <class... Args>
auto policy_of() {
    constexpr Place place = place_of_all<Args...>;
    if constexpr (place == Place::device || place == Place::anywhere)
        return DevicePolicy();
    else
        return HostPolicy();
}
}  // namespace detail

/// Where an iterator that computes its values is to be used: an argument of its type.
struct host_system_tag {};
struct device_system_tag {};
struct any_system_tag {};
/// An argument of an iterator's type that says nothing.
struct use_default {};

namespace detail {
template <class System>
inline constexpr Place place_of_system = Place::anywhere;
template <>
inline constexpr Place place_of_system<host_system_tag> = Place::host;
template <>
inline constexpr Place place_of_system<device_system_tag> = Place::device;
}  // namespace detail

inline constexpr detail::HostPolicy host{};
inline constexpr detail::HostPolicy seq{};
inline constexpr detail::DevicePolicy device{};

namespace cuda {
inline constexpr detail::DevicePolicy par{};
inline constexpr detail::DevicePolicy par_nosync{};
using tag = device_system_tag;
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

/// Defines an algorithm, with and without an execution policy, from its steps.
/// Written in namespace steps, it closes that and opens it again.
#define SIMT_THRUST_ALGORITHM(algorithm)                                \
    }                                                                   \
    template <::thrust::detail::IsPolicy P, class... Args>              \
    requires requires(Args && ... args) {                               \
        ::thrust::steps::algorithm(std::forward<Args>(args)...);        \
    }                                                                   \
    decltype(auto) algorithm(const P& policy, Args&&... args) {         \
        const ::thrust::detail::Run run(policy);                        \
        return ::thrust::steps::algorithm(std::forward<Args>(args)...); \
    }                                                                   \
    template <class First, class... Args>                               \
    requires(!::thrust::detail::IsPolicy<First>) &&                     \
        requires(First && first, Args && ... args) {                    \
        ::thrust::steps::algorithm(std::forward<First>(first),          \
                                   std::forward<Args>(args)...);        \
    }                                                                   \
    decltype(auto) algorithm(First&& first, Args&&... args) {           \
        const ::thrust::detail::Run run(                                \
            ::thrust::detail::policy_of<First, Args...>());             \
        return ::thrust::steps::algorithm(std::forward<First>(first),   \
                                          std::forward<Args>(args)...); \
    }                                                                   \
    namespace steps {
