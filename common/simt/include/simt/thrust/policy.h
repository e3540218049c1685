/// simt/thrust/policy.h: execution policies. All algorithms run on the host at once,
/// whatever policy they are given.
#pragma once
#include <type_traits>

#include "simt/core.h"

namespace thrust {

namespace simt_detail {
struct policy {
    /// A policy for a stream, or with an allocator for temporary memory.
    template <class Anything>
    policy on(Anything&&) const {
        return {};
    }
    template <class Allocator>
    policy operator()(Allocator&&) const {
        return {};
    }
};
template <class T>
inline constexpr bool is_policy = std::is_base_of_v<policy, std::remove_cvref_t<T>>;
}  // namespace simt_detail

struct host_execution_policy : simt_detail::policy {};
struct device_execution_policy : simt_detail::policy {};
inline constexpr host_execution_policy host;
inline constexpr device_execution_policy device;
inline constexpr simt_detail::policy seq;
namespace cuda {
inline constexpr device_execution_policy par;
inline constexpr device_execution_policy par_nosync;
}  // namespace cuda

}  // namespace thrust
