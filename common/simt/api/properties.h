#pragma once
// The device's properties, for the functions that report parts of them.

#include "simt/api/device_types.h"

namespace simt::detail {

/// Everything that is known about the simulated device.
cudaDeviceProp device_properties();

}  // namespace simt::detail
