#pragma once
// Launching by function, attributes of kernels, and occupancy.
//
// Each function takes a kernel as CUDA's C++ API does, by its typed pointer, or as the
// C API does, by `const void*` (see kernel_ref.h).

#include <tuple>
#include <type_traits>
#include <utility>

#include "device_types.h"
#include "launch_types.h"
#include "simt/kernel_ref.h"
#include "types.h"

// ---- Launching --------------------------------------------------------------------

/// Launches the kernel at `function`; `args[i]` points to its i-th argument.
/// @returns cudaErrorInvalidResourceHandle if `function` is not the address of a
///          kernel, cudaErrorInvalidDeviceFunction if it is null, cudaErrorInvalidValue
///          for an impossible shape.
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             const char* file = __builtin_FILE(),
                             int line = __builtin_LINE());

/// The same for kernels that call `grid.sync()`.
/// @returns cudaErrorCooperativeLaunchTooLarge if the blocks cannot all be resident.
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** args, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr,
                                        const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE());

/// Launches with attributes: cooperative launches and thread block clusters; hints are
/// accepted.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** args, const char* file = __builtin_FILE(),
                                int line = __builtin_LINE());

// ---- Attributes -------------------------------------------------------------------

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute,
                                 int value);
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config);
cudaError_t cudaFuncSetSharedMemConfig(const void* function,
                                       cudaSharedMemConfig config);
cudaError_t cudaFuncGetName(const char** name, const void* function);

// ---- Occupancy --------------------------------------------------------------------
// Computed from the device model. Registers are not known; 32 a thread are assumed.

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          const void* function,
                                                          int block_size,
                                                          size_t shared_bytes);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int block_size,
                                                                   size_t shared_bytes,
                                                                   unsigned int flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                      const void* function, int blocks,
                                                      int block_size);

/// How many clusters of that shape run at once: a cluster's blocks share one GPC.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config);

// ---- The same for typed kernels ---------------------------------------------------

namespace simt::detail {

/// Registers a typed kernel and gives its address, for the functions above.
template <class T>
const void* kernel_address(T* function) {
    if constexpr (std::is_function_v<T>)
        register_kernel(make_entry("kernel", function));
    return reinterpret_cast<const void*>(function);
}

/// A kernel by address: the parameter of the typed overloads, which must not compete
/// with the `const void*` ones for a `void*`.
template <class T>
using IfKernel = std::enable_if_t<std::is_function_v<T>, cudaError_t>;

/// Tries block sizes from the largest down, a warp at a time, and keeps the one with
/// the most resident threads: the rule of cudaOccupancyMaxPotentialBlockSize.
class OccupancySearch {
 public:
    OccupancySearch(const void* function, int limit);
    /// Steps to the next block size; false after the last.
    bool next();
    int block_size() const { return size_; }
    /// Rates the current block size with that much dynamic shared memory.
    void consider(size_t shared_bytes, unsigned int flags);
    cudaError_t result(int* min_grid, int* block) const;

 private:
    const void* function_;
    int size_;
    int limit_;
    int best_size_ = 0;
    int best_blocks_ = 0;
    cudaError_t error_ = cudaSuccess;
};

}  // namespace simt::detail

template <class T>
simt::detail::IfKernel<T> cudaLaunchKernel(T* function, dim3 grid, dim3 block,
                                           void** args, size_t shared_bytes = 0,
                                           cudaStream_t stream = nullptr,
                                           const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) {
    return cudaLaunchKernel(simt::detail::kernel_address(function), grid, block, args,
                            shared_bytes, stream, file, line);
}

template <class T>
simt::detail::IfKernel<T> cudaLaunchCooperativeKernel(
    T* function, dim3 grid, dim3 block, void** args, size_t shared_bytes = 0,
    cudaStream_t stream = nullptr, const char* file = __builtin_FILE(),
    int line = __builtin_LINE()) {
    return cudaLaunchCooperativeKernel(simt::detail::kernel_address(function), grid,
                                       block, args, shared_bytes, stream, file, line);
}

/// Launches with the arguments themselves, converted to the kernel's parameter types.
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*function)(P...),
                               A&&... args) {
    static_assert(sizeof...(P) == sizeof...(A), "one argument for each parameter");
    std::tuple<std::remove_cvref_t<P>...> values(std::forward<A>(args)...);
    return std::apply(
        [&](auto&... value) {
            void* pointers[] = {static_cast<void*>(&value)..., nullptr};
            return cudaLaunchKernelExC(config, simt::detail::kernel_address(function),
                                       pointers);
        },
        values);
}

template <class T>
simt::detail::IfKernel<T> cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                T* function) {
    return cudaFuncGetAttributes(attributes, simt::detail::kernel_address(function));
}
template <class T>
simt::detail::IfKernel<T> cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute,
                                               int value) {
    return cudaFuncSetAttribute(simt::detail::kernel_address(function), attribute,
                                value);
}
template <class T>
simt::detail::IfKernel<T> cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
    return cudaFuncSetCacheConfig(simt::detail::kernel_address(function), config);
}
template <class T>
simt::detail::IfKernel<T> cudaFuncSetSharedMemConfig(T* function,
                                                     cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig(simt::detail::kernel_address(function), config);
}
template <class T>
simt::detail::IfKernel<T> cudaFuncGetName(const char** name, T* function) {
    return cudaFuncGetName(name, simt::detail::kernel_address(function));
}
template <class T>
simt::detail::IfKernel<T> cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, T* function, int block_size, size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, simt::detail::kernel_address(function), block_size, shared_bytes);
}
template <class T>
simt::detail::IfKernel<T> cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, T* function, int block_size, size_t shared_bytes, unsigned int flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, simt::detail::kernel_address(function), block_size, shared_bytes,
        flags);
}
template <class T>
simt::detail::IfKernel<T> cudaOccupancyMaxActiveClusters(
    int* clusters, T* function, const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxActiveClusters(
        clusters, simt::detail::kernel_address(function), config);
}
template <class T>
simt::detail::IfKernel<T> cudaOccupancyMaxPotentialClusterSize(
    int* size, T* function, const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxPotentialClusterSize(
        size, simt::detail::kernel_address(function), config);
}
template <class T>
simt::detail::IfKernel<T> cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                                    T* function,
                                                                    int blocks,
                                                                    int block_size) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes, simt::detail::kernel_address(function), blocks, block_size);
}

/// The block size that keeps most threads resident, and the grid that fills the device.
/// `shared_of_block(block_size)` gives the dynamic shared memory of a block.
template <class T, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* min_grid, int* block, T function, F shared_of_block, int limit = 0,
    unsigned int flags = 0) {
    const void* address = simt::detail::kernel_address(function);
    if (!min_grid || !block) return cudaErrorInvalidValue;
    simt::detail::OccupancySearch search(address, limit);
    while (search.next()) {
        const size_t bytes = shared_of_block(search.block_size());
        search.consider(bytes, flags);
    }
    return search.result(min_grid, block);
}
template <class T, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* block,
                                                           T function,
                                                           F shared_of_block,
                                                           int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        min_grid, block, function, shared_of_block, limit);
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block,
                                                        T function,
                                                        size_t shared_bytes = 0,
                                                        int limit = 0,
                                                        unsigned int flags = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        min_grid, block, function, [=](int) { return shared_bytes; }, limit, flags);
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block, T function,
                                               size_t shared_bytes = 0, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, function,
                                                       shared_bytes, limit);
}
