#include "options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "devices.h"

namespace simt {
namespace detail {
namespace {

double number(const char* name, double fallback) {
    const char* text = std::getenv(name);
    if (!text || !*text) return fallback;
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    return *end == '\0' ? value : fallback;
}

size_t default_memory() {
    const size_t ram = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
    return std::min(size_t{16} << 30, ram / 5 * 4);
}

Options read_environment() {
    Options o;
    o.seed = static_cast<uint64_t>(std::max(0.0, number("SIMT_SEED", 0)));
    const char* streams = std::getenv("SIMT_STREAMS");
    o.live_streams = streams && std::strcmp(streams, "live") == 0;
    o.stream_seed =
        o.live_streams
            ? 2
            : static_cast<uint64_t>(std::max(0.0, number("SIMT_STREAMS", 0)));
    const double cores = std::max(1u, std::thread::hardware_concurrency());
    o.workers =
        static_cast<unsigned>(std::clamp(number("SIMT_WORKERS", cores), 1.0, 1024.0));
    // CUDA grants a thread up to 512 KiB of local memory.
    const double stack = std::clamp(number("SIMT_STACK_KB", 640), 32.0, 1048576.0);
    o.stack_bytes = (static_cast<size_t>(stack) * 1024 + 4095) / 4096 * 4096;
    const double memory = number("SIMT_MEMORY_MB", 0);
    o.memory_bytes =
        memory > 0 ? static_cast<size_t>(memory * 1048576) : default_memory();
    o.time_limit = number("SIMT_TIME_LIMIT", 30);
    o.multiprocessors =
        static_cast<int>(std::clamp(number("SIMT_MULTIPROCESSORS", 0), 0.0, 1024.0));
    o.devices = static_cast<int>(std::clamp(number("SIMT_DEVICES", 1), 1.0, 16.0));
    const double shared = std::clamp(number("SIMT_SHARED_KB", 0), 0.0, 1024.0);
    o.shared_bytes = static_cast<size_t>(shared) * 1024;
    o.l2_bytes =
        static_cast<size_t>(std::clamp(number("SIMT_L2_KB", 0), 0.0, 1048576.0)) * 1024;
    o.capability =
        static_cast<int>(std::clamp(number("SIMT_COMPUTE_CAPABILITY", 0), 0.0, 999.0));
    o.resident = static_cast<unsigned>(
        std::clamp(number("SIMT_RESIDENT_BLOCKS", 0), 0.0, 65536.0));
    o.backwards = number("SIMT_BACKWARDS", 0) != 0;
    o.poison = number("SIMT_POISON", 1) != 0;
    o.strict = number("SIMT_STRICT_EXIT", 0) != 0;
    o.lenient = number("SIMT_LENIENT", 0) != 0;
    o.tight = number("SIMT_TIGHT", 0) != 0;
    o.allow_host_pointers = number("SIMT_ALLOW_HOST_POINTERS", 0) != 0;
    return o;
}

}  // namespace

bool atomics_interrupt = false;

/// Seeds that interrupt at atomics are some of those with a late warp, and others.
static void note_seed() {
    const uint64_t seed = options().seed;
    atomics_interrupt = seed != 0 && seed % 5 == 0;
}

namespace {

// Before the program's static objects, which can change the environment.
[[gnu::constructor(101)]] void read_early() {
    note_seed();
}

}  // namespace

Options& options() {
    static Options instance = read_environment();
    return instance;
}

}  // namespace detail

void set_strict(bool on) {
    detail::options().strict = on;
}
void set_tight(bool on) {
    detail::options().tight = on;
}
void set_time_limit(double seconds) {
    detail::options().time_limit = seconds;
}
void set_seed(unsigned seed) {
    detail::options().seed = seed;
    detail::note_seed();
}
void set_multiprocessors(int count) {
    detail::options().multiprocessors = count;
}
void set_devices(int count) {
    detail::options().devices = std::clamp(count, 1, detail::kMostDevices);
}
void set_shared_per_block(std::size_t bytes) {
    detail::options().shared_bytes = bytes;
}
void set_l2_bytes(size_t bytes) {
    detail::options().l2_bytes = bytes;
}
void set_compute_capability(int times_10) {
    detail::options().capability = times_10;
}
void set_resident_blocks(unsigned count) {
    detail::options().resident = count;
}
void set_backwards(bool on) {
    detail::options().backwards = on;
}

}  // namespace simt
