#pragma once
// The device's properties, for the functions that report parts of them.

#include "simt/api/device_types.h"

namespace simt::detail {

/// Everything that is known about a simulated device.
cudaDeviceProp device_properties(int device);

}  // namespace simt::detail
