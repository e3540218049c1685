/// wb/testing/other_device.h: that a launcher works on the device that is current.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#ifdef SIMT_CPU
#include "simt/options.h"
#endif

namespace wb::testing {

/// Calls `grade`, which grades a call, with a device that is not number 0. Only in the
/// simulator, which may have as many as it likes: a launcher that chooses a device by
/// itself, or keeps something of the first one, fails.
template <class Grade>
void on_another_device([[maybe_unused]] Grade grade) {
#ifdef SIMT_CPU
    struct Second {
        Second() {
            simt::set_devices(2);
            CUDA_CHECK(cudaSetDevice(1));
        }
        ~Second() {
            (void)cudaSetDevice(0);
            simt::set_devices(1);
        }
    };
    const Second second;
    grade();
#endif
}

}  // namespace wb::testing
