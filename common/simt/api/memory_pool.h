#pragma once
// Memory pools: which allocation belongs to which pool, and how much each uses.

#include "simt/api/memory.h"

namespace simt::detail {

/// Called when memory is freed by any way: its pool uses less.
void forget_pool_allocation(const void* pointer);

/// Destroys all pools that the program created (cudaDeviceReset).
void destroy_pools();

}  // namespace simt::detail
