#include "device_model.h"

#include <atomic>

namespace simt::detail {
namespace {

constexpr size_t KiB = 1024;
constexpr size_t MiB = 1024 * KiB;

// One well-known GPU of each architecture (T4, A100, A10, Orin, L4, H100, B200, RTX 5080):
// the limits are those of the table of compute capabilities in the CUDA programming
// guide, multiprocessors, caches and clocks those of the data sheets.
// clang-format off
constexpr DeviceModel kModels[] = {
    {75, 40, 1024, 16, 64 * KiB, 48 * KiB, 64 * KiB, 4 * MiB, 1590000, 5001000, 256},
    {80, 108, 2048, 32, 164 * KiB, 48 * KiB, 163 * KiB, 40 * MiB, 1410000, 1215000, 5120},
    {86, 72, 1536, 16, 100 * KiB, 48 * KiB, 99 * KiB, 6 * MiB, 1695000, 6251000, 384},
    {87, 16, 1536, 16, 164 * KiB, 48 * KiB, 163 * KiB, 4 * MiB, 1300000, 1600000, 256},
    {89, 58, 1536, 24, 100 * KiB, 48 * KiB, 99 * KiB, 48 * MiB, 2040000, 6251000, 192},
    {90, 132, 2048, 32, 228 * KiB, 48 * KiB, 227 * KiB, 50 * MiB, 1980000, 2619000, 5120},
    {100, 148, 2048, 32, 228 * KiB, 48 * KiB, 227 * KiB, 126 * MiB, 1965000, 3996000, 8192},
    {120, 84, 1536, 24, 100 * KiB, 48 * KiB, 99 * KiB, 64 * MiB, 2617000, 15001000, 256},
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

bool set_device_arch(int cuda_arch) {
    const int arch = cuda_arch / 10;
    int seen = g_arch.load();
    while (seen < arch && !g_arch.compare_exchange_weak(seen, arch)) {
    }
    return true;
}

}  // namespace simt::detail
