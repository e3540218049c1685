/// core/kernel_attributes.h: what a kernel's head and cudaFuncSetAttribute say of its
/// launches, clusters apart.
#pragma once

#include <cstddef>

#include "simt/config.h"

namespace simt::detail {

/// What every launch may ask for.
constexpr size_t kDefaultDynamic = 48 * 1024;

/// Bytes of dynamic shared memory that launches of the kernel may ask for on the
/// current device: 48 KiB, unless it was allowed more there. nullptr, a kernel whose
/// address is not known: the most that any kernel was allowed.
size_t max_dynamic_smem(const void* kernel);

/// Allows the kernel that much on the current device, and on no other. False if the
/// device does not have so much.
bool set_max_dynamic_smem(const void* kernel, size_t bytes);

/// The most threads that a block of the kernel may have: the device's 1024, or what
/// its __launch_bounds__ say.
int max_threads(const void* kernel);

/// Whether the launch keeps to the kernel's __launch_bounds__; if not, says so.
bool keeps_bounds(const Config& config, const Body& body);

}  // namespace simt::detail
