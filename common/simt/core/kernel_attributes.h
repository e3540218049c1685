/// core/kernel_attributes.h: what cudaFuncSetAttribute sets for one kernel.
#pragma once

#include <cstddef>

namespace simt::detail {

/// Bytes of dynamic shared memory that launches of the kernel may ask for: 48 KiB,
/// unless it was allowed more. nullptr, a kernel whose address is not known: the most
/// that any kernel was allowed.
size_t max_dynamic_smem(const void* kernel);

/// Allows the kernel that much. False if the device does not have so much.
bool set_max_dynamic_smem(const void* kernel, size_t bytes);

}  // namespace simt::detail
