#pragma once
// What an address is: the checks of copies, fills and of cuBLAS.

#include <cstddef>

namespace simt::detail {

enum class Space {
    host,     // ordinary host memory, which only the host may touch
    pinned,   // host memory that kernels may use: cudaMallocHost, cudaHostRegister
    device,   // cudaMalloc, __device__ variables
    managed,  // cudaMallocManaged
    freed,    // was an allocation, or lies between two
};

/// What is known about the memory at an address.
struct Pointee {
    Space space;
    const char* begin;  // of the allocation; null for host and freed
    size_t bytes_left;  // from the address to the end; unlimited for host
    bool device_ok() const { return space != Space::host && space != Space::freed; }
    bool host_ok() const { return space != Space::device && space != Space::freed; }
};

Pointee look_up(const void* address);

/// Makes a `__device__` or `__constant__` variable known as device memory.
void note_symbol(const void* address, size_t bytes);

/// True if the address lies in a variable of static storage duration.
bool in_static_storage(const void* address);

/// Who may use the memory that a parameter points to.
enum class Side { host, device, any };

/// True if `bytes` bytes at `address` exist and may be used from `side`; otherwise one
/// line on stderr names the call and its parameter.
bool check_range(const void* address, size_t bytes, Side side, const char* call,
                 const char* name);

}  // namespace simt::detail
