#pragma once
// Kernels behind a `void*`: cudaLaunchKernel((void*)k, ...), kernel nodes of graphs.
//
// A `const void*` does not say how to call the kernel. Therefore the rewriter wraps
// every kernel that is mentioned as a value, `(void*)k`, into
// `(void*)simt::kernel_ref("k", k)`, which notes name, parameter sizes and caller of
// that address before it passes it on.

#include <cstddef>
#include <utility>

#include "simt/api/launch_types.h"
#include "simt/launch.h"

namespace simt::detail {

struct LaunchRequest;

/// What is known about a kernel by its address.
struct KernelEntry {
    const void* function;
    const char* name;
    size_t num_params;
    const size_t* param_sizes;  // [num_params]
    /// Launches the kernel; `args[i]` points to the i-th argument, which is copied.
    void (*launch)(const KernelEntry&, const LaunchRequest&, void** args);
};

/// The part of a launch that does not depend on the kernel's type.
struct LaunchRequest {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
    bool cooperative;
    const char* file;
    int line;
    dim3 cluster = dim3(0);  // x = 0: what the kernel says
    bool programmatic = false;
};

/// Adds to the table of kernels; a second registration of the same address is ignored.
void register_kernel(const KernelEntry& entry);

/// The entry of a kernel's address, or null.
const KernelEntry* find_kernel(const void* function);

/// A parameter as it lies in the parameter space: of a reference, its address.
template <class P>
using Parameter =
    std::conditional_t<std::is_lvalue_reference_v<P>, std::remove_reference_t<P>*,
                       std::remove_cvref_t<P>>;

template <class... P>
inline constexpr size_t kParamSizes[sizeof...(P) + 1] = {sizeof(Parameter<P>)..., 0};

/// The argument for a parameter of type P that `arg` points to.
template <class P>
auto& argument_at(void* arg) {
    auto& parameter = *static_cast<Parameter<P>*>(arg);
    if constexpr (std::is_lvalue_reference_v<P>)
        return *parameter;
    else
        return parameter;
}

template <class... P, size_t... I>
void call_kernel(const KernelEntry& entry, const LaunchRequest& request, void** args,
                 std::index_sequence<I...>) {
    using Function = void (*)(P...);
    auto function = reinterpret_cast<Function>(const_cast<void*>(entry.function));
    Config config(request.grid, request.block, request.shared_bytes, request.stream,
                  request.file, request.line);
    config.cooperative = request.cooperative;
    config.cluster = request.cluster;
    config.programmatic = request.programmatic;
    (void)args;  // unused by a kernel without parameters
    kernel(entry.name, function).with(config).launch(argument_at<P>(args[I])...);
}

template <class... P>
void launch_by_args(const KernelEntry& entry, const LaunchRequest& request,
                    void** args) {
    call_kernel<P...>(entry, request, args, std::index_sequence_for<P...>());
}

/// The entry of a kernel whose type is known.
template <class... P>
KernelEntry make_entry(const char* name, void (*function)(P...)) {
    return {reinterpret_cast<const void*>(function), name, sizeof...(P),
            kParamSizes<P...>, &launch_by_args<P...>};
}

}  // namespace simt::detail

namespace simt {

/// The kernel itself; makes its address known to the functions that take a `const
/// void*`.
template <class... P>
constexpr auto kernel_ref(const char* name, void (&function)(P...)) -> void (&)(P...) {
    if (!std::is_constant_evaluated())
        detail::register_kernel(detail::make_entry(name, &function));
    return function;
}

/// Not a kernel after all: passed on unchanged.
template <class T>
constexpr T&& kernel_ref(const char*, T&& value) {
    return static_cast<T&&>(value);
}

}  // namespace simt
