#include "device_model.h"

#include <algorithm>
#include <atomic>

#include "options.h"

namespace simt::detail {
namespace {

constexpr size_t KiB = 1024;
constexpr size_t MiB = 1024 * KiB;

constexpr DeviceModel make_model(int arch,
                                 int multiprocessors,
                                 int threads,
                                 int blocks,
                                 size_t shared_per_sm,
                                 size_t shared_per_block,
                                 size_t shared_optin,
                                 size_t l2_bytes,
                                 int clock_khz,
                                 int memory_clock_khz,
                                 int memory_bus_bits) {
    return {arch,
            multiprocessors,
            threads,
            blocks,
            shared_per_sm * KiB,
            shared_per_block * KiB,
            shared_optin * KiB,
            l2_bytes,
            clock_khz,
            memory_clock_khz,
            memory_bus_bits};
}

// One well-known GPU of each architecture (T4, A100, A10, Orin, L4, H100, B200, RTX
// 5080): the limits are those of the table of compute capabilities in the CUDA
// programming guide, multiprocessors, caches and clocks those of the data sheets.
// clang-format off
constexpr DeviceModel kModels[] = {
    // arch, SMs, threads and blocks of an SM, shared memory (KiB) of an SM, of a block,
    // of a block that asks, L2, kHz, memory kHz, bits
    make_model(75, 40, 1024, 16, 64, 48, 64, 4 * MiB, 1590000, 5001000, 256),
    make_model(80, 108, 2048, 32, 164, 48, 163, 40 * MiB, 1410000, 1215000, 5120),
    make_model(86, 72, 1536, 16, 100, 48, 99, 6 * MiB, 1695000, 6251000, 384),
    make_model(87, 16, 1536, 16, 164, 48, 163, 4 * MiB, 1300000, 1600000, 256),
    make_model(89, 58, 1536, 24, 100, 48, 99, 48 * MiB, 2040000, 6251000, 192),
    make_model(90, 132, 2048, 32, 228, 48, 227, 50 * MiB, 1980000, 2619000, 5120),
    make_model(100, 148, 2048, 32, 228, 48, 227, 126 * MiB, 1965000, 3996000, 8192),
    make_model(120, 84, 1536, 24, 100, 48, 99, 64 * MiB, 2617000, 15001000, 256),
};
// clang-format on
constexpr int kDefaultArch = 80;

std::atomic<int> g_arch = 0;  // 0: nobody has asked for one

const DeviceModel& find_model(int arch) {
    const DeviceModel* best = &kModels[0];
    for (const DeviceModel& model : kModels)
        if (model.arch <= arch) best = &model;
    return *best;
}

}  // namespace

const DeviceModel& device_model() {
    const int arch = g_arch.load(std::memory_order_relaxed);
    return find_model(arch == 0 ? kDefaultArch : arch);
}

int multiprocessors() {
    const int asked = options().multiprocessors;
    return asked > 0 ? asked : device_model().multiprocessors;
}

size_t shared_per_block_optin() {
    const size_t asked = options().shared_bytes;
    const size_t most = device_model().shared_per_block_optin;
    return asked > 0 ? std::min(asked, most) : most;
}

size_t l2_bytes() {
    const size_t asked = options().l2_bytes;
    return asked > 0 ? asked : device_model().l2_bytes;
}

int compute_capability() {
    const int asked = options().capability;
    return asked > 0 ? asked : device_model().arch;
}

bool set_device_arch(int cuda_arch) {
    const int arch = cuda_arch / 10;
    int seen = g_arch.load();
    while (seen < arch && !g_arch.compare_exchange_weak(seen, arch)) {
    }
    return true;
}

}  // namespace simt::detail
