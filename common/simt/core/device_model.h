#pragma once
// The simulated device's limits in one place: the launcher enforces them, properties
// and occupancy report them.

#include <cstddef>

namespace simt::detail {

/// Limits of one GPU architecture. Sizes in bytes, clocks in kHz.
struct DeviceModel {
    int arch;             // 10 * compute capability, e.g. 80
    int multiprocessors;  // unless others are asked for: see multiprocessors()
    int max_threads_per_sm;
    int max_blocks_per_sm;
    size_t shared_per_sm;
    size_t shared_per_block;        // without cudaFuncSetAttribute
    size_t shared_per_block_optin;  // after it: see shared_per_block_optin()
    size_t l2_bytes;
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;

    // The same on every architecture that CUDA 13 supports.
    static constexpr int kWarpSize = 32;
    static constexpr int kMaxThreadsPerBlock = 1024;
    static constexpr int kMaxBlockDim[3] = {1024, 1024, 64};
    static constexpr int kMaxGridDim[3] = {2147483647, 65535, 65535};
    static constexpr int kRegistersPerSm = 65536;
    static constexpr int kRegistersPerBlock = 65536;
    static constexpr int kAssumedRegistersPerThread = 32;
    static constexpr size_t kReservedSharedPerBlock = 1024;  // 0 before sm_80
    static constexpr size_t kConstantBytes = 65536;

    int major() const { return arch / 10; }
    int minor() const { return arch % 10; }
    size_t reserved_shared_per_block() const {
        return arch >= 80 ? kReservedSharedPerBlock : 0;
    }
};

/// The model of the architecture that the program was compiled for (sm_80 unless the
/// program is compiled with another -arch).
const DeviceModel& device_model();

/// How many multiprocessors the device has: the model's, or as many as were asked for.
int multiprocessors();

/// Shared memory of a block that asks: the model's, or less if so much was asked for.
size_t shared_per_block_optin();

/// Bytes of the L2 cache: the model's, or as many as were asked for.
size_t l2_bytes();

/// Compute capability, times 10: what the GPU says of itself.
int compute_capability();

/// Called before main by every file that simt-c++ compiles, with the value of -arch
/// (800 for sm_80). The newest architecture wins.
bool set_device_arch(int cuda_arch);

}  // namespace simt::detail
