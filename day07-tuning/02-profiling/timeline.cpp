// timeline.cpp: what a timeline is made of, for a machine without Nsight Systems. A
// library that the driver loads into any CUDA program. It writes down when the host
// called, when kernels ran, and the program's NVTX ranges, and prints it at the end:
//
//     export CUDA_INJECTION64_PATH=$PWD/build/cuda/libday07_timeline.so
//     export NVTX_INJECTION64_PATH=/usr/local/cuda/lib64/libcupti.so
//     build/cuda/day07_patients
//
// CUPTI, which does the work, is also what Nsight Systems and PyTorch's profiler use.
#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

#if CUPTI_API_VERSION >= 130000
using KernelActivity = CUpti_ActivityKernel10;
#else
using KernelActivity = CUpti_ActivityKernel9;
#endif

/// A stretch of time, in nanoseconds of the one clock that CUPTI uses.
struct Stretch {
    std::string name;
    uint64_t begin = 0;
    uint64_t end = 0;
};

/// All that was seen. CUPTI's thread fills it, the end of the program prints it.
struct Seen {
    std::map<uint32_t, Stretch> calls;    // of cudaLaunchKernel, by correlation
    std::map<uint32_t, Stretch> kernels;  // by the correlation of their launch
    std::map<uint32_t, Stretch> ranges;   // of NVTX
};

Seen& seen() {
    static Seen* const instance = new Seen;  // outlives the handlers of exit()
    return *instance;
}

void note(const CUpti_Activity* record) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const auto* kernel = reinterpret_cast<const KernelActivity*>(record);
        seen().kernels[kernel->correlationId] = {
            kernel->name, kernel->start, kernel->end};
    } else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
        const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
        const char* name = "";
        cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid, &name);
        if (std::string(name).starts_with("cudaLaunchKernel"))
            seen().calls[call->correlationId] = {name, call->start, call->end};
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MARKER) {
        const auto* marker = reinterpret_cast<const CUpti_ActivityMarker2*>(record);
        Stretch& range = seen().ranges[marker->id];
        if (marker->flags & CUPTI_ACTIVITY_FLAG_MARKER_START) {
            range.begin = marker->timestamp;
            range.name = marker->name ? marker->name : "";
        } else {
            range.end = marker->timestamp;
        }
    }
}

constexpr size_t kBufferBytes = size_t{1} << 20;

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
    *size = *buffer ? kBufferBytes : 0;
    *most_records = 0;  // as many as fit
}

void CUPTIAPI
take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
        note(record);
    std::free(buffer);
}

/// Kernels that were launched between two moments of the host, in their order.
struct Launches {
    std::vector<Stretch> calls;
    std::vector<Stretch> kernels;
};

Launches launched_in(const Stretch& range) {
    Launches found;
    for (const auto& [correlation, call] : seen().calls) {
        const auto kernel = seen().kernels.find(correlation);
        if (call.begin < range.begin || call.begin > range.end) continue;
        if (kernel == seen().kernels.end()) continue;
        found.calls.push_back(call);
        found.kernels.push_back(kernel->second);
    }
    return found;
}

double us(uint64_t nanoseconds) {
    return 1e-3 * static_cast<double>(nanoseconds);
}

/// One line a range, as a table.
void print_range(const Stretch& range, const Launches& all) {
    uint64_t calling = 0;
    uint64_t busy = 0;
    for (const Stretch& call : all.calls)
        calling += call.end - call.begin;
    for (const Stretch& kernel : all.kernels)
        busy += kernel.end - kernel.begin;
    const uint64_t span = all.kernels.back().end - all.kernels.front().begin;
    const auto count = static_cast<double>(all.kernels.size());
    std::fprintf(stderr,
                 "%-12s %8zu %12.2f %12.2f %12.1f %8.1f\n",
                 range.name.c_str(),
                 all.kernels.size(),
                 us(calling) / count,
                 us(busy) / count,
                 us(span),
                 100.0 * static_cast<double>(busy) / static_cast<double>(span));
}

/// The first kernels of a range, beside the calls that launched them.
void print_beginning(const Stretch& range, const Launches& all) {
    constexpr size_t kMost = 6;
    const size_t count = std::min(kMost, all.kernels.size());
    for (size_t i = 0; i < count; ++i) {
        const Stretch& call = all.calls[i];
        const Stretch& kernel = all.kernels[i];
        std::fprintf(stderr,
                     "%-12s %8.2f .. %6.2f us host   %8.2f .. %6.2f us GPU\n",
                     range.name.c_str(),
                     us(call.begin - range.begin),
                     us(call.end - range.begin),
                     us(kernel.begin - range.begin),
                     us(kernel.end - range.begin));
    }
}

void print_timeline() {
    cuptiActivityFlushAll(1);
    std::fprintf(stderr,
                 "%-12s %8s %12s %12s %12s %8s\n",
                 "range",
                 "kernels",
                 "us a launch",
                 "us a kernel",
                 "us on GPU",
                 "busy %");
    for (const auto& [id, range] : seen().ranges)
        if (const Launches all = launched_in(range); !all.kernels.empty())
            print_range(range, all);
    for (const auto& [id, range] : seen().ranges)
        if (const Launches all = launched_in(range); all.kernels.size() > 1)
            print_beginning(range, all);
}

}  // namespace

/// Called by the driver when the program uses CUDA for the first time.
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
    bool ready =
        cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS;
    for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          CUPTI_ACTIVITY_KIND_RUNTIME,
                                          CUPTI_ACTIVITY_KIND_MARKER})
        ready = cuptiActivityEnable(kind) == CUPTI_SUCCESS && ready;
    if (!ready) std::fputs("timeline: CUPTI refuses to trace\n", stderr);
    std::atexit(print_timeline);
    return 1;
}
