// Several devices: memory that belongs to another one.
#include "planted.h"

#include "simt/options.h"

__global__ void sum(const int* x, int* out) {
    atomicAdd(out, x[threadIdx.x]);  // memory_of_another_device
}

/// Half of the numbers on each of two devices.
static void sum_of_both(bool enable) {
    simt::set_devices(2);
    int* const first = planted::numbered<int>(32);
    int* const out = planted::zeros<int>(1);
    cudaSetDevice(1);
    int* const second = planted::numbered<int>(32);
    cudaSetDevice(0);
    if (enable) cudaDeviceEnablePeerAccess(1, 0);
    sum<<<1, 32>>>(first, out);
    sum<<<1, 32>>>(second, out);
}
PLANTED(fault, memory_of_another_device) {
    sum_of_both(false);
}
PLANTED(none, memory_of_a_peer) {
    sum_of_both(true);
}
