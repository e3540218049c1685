#pragma once
// The device's properties, for the functions that report parts of them.

#include <cstddef>

#include "simt/api/device_types.h"

namespace simt::detail {

/// Everything that is known about the simulated device.
cudaDeviceProp device_properties();

/// The computer's memory, which is also the device's.
size_t device_memory_bytes();

}  // namespace simt::detail
