#include "launch_watch.h"

#include <wb/check.h>

#include <atomic>
#include <string>
#ifdef SIMT_CPU
#include <simt/streams.h>
#endif

#include "settings.h"

namespace wb::testing {
namespace {

Finding broken(const char* detail, std::string what, const char* advice) {
    Finding finding{Kind::contract, detail};
    finding.what = std::move(what);
    finding.advice = advice;
    return finding;
}

#ifdef SIMT_CPU
std::size_t free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

// One launcher is watched at a time; it may use several threads.
struct Seen {
    std::atomic<const void*> stream{nullptr};
    std::atomic<int> on_stream{0};
    std::atomic<int> elsewhere{0};  // put on streams that the launcher has made
    std::atomic<int> default_kernels{0};
    std::atomic<int> default_graphs{0};
    std::atomic<int> default_operations{0};
    std::atomic<int> default_memory{0};
    std::atomic<int> waits{0};
    std::atomic<int> host_functions{0};
};
Seen seen;

bool is_default(const void* stream) {
    return stream == nullptr || stream == cudaStreamLegacy ||
           stream == cudaStreamPerThread;
}

void note(simt::Issue what, const void* stream) {
    if (what == simt::Issue::event)
        ;  // it computes nothing
    else if (what == simt::Issue::wait)
        ++seen.waits;
    else if (what == simt::Issue::host)
        ++seen.host_functions;
    else if (what == simt::Issue::memory)
        seen.default_memory += is_default(stream) ? 1 : 0;  // else it computes nothing
    else if (stream == seen.stream)
        ++seen.on_stream;
    else if (!is_default(stream))
        ++seen.elsewhere;
    else if (what == simt::Issue::kernel)
        ++seen.default_kernels;
    else if (what == simt::Issue::graph)
        ++seen.default_graphs;
    else
        ++seen.default_operations;
}
#endif

}  // namespace

LaunchWatch::LaunchWatch([[maybe_unused]] cudaStream_t stream) {
#ifdef SIMT_CPU
    free_before_ = free_memory();
    made_before_ = simt::objects().made;
    seen.stream = stream;
    for (auto* count : {&seen.on_stream,
                        &seen.elsewhere,
                        &seen.default_kernels,
                        &seen.default_graphs,
                        &seen.default_operations,
                        &seen.default_memory,
                        &seen.waits,
                        &seen.host_functions})
        *count = 0;
    simt::on_issue(note);
#endif
}

LaunchWatch::~LaunchWatch() {
#ifdef SIMT_CPU
    simt::on_issue(nullptr);
#endif
}

void LaunchWatch::stop() {
#ifdef SIMT_CPU
    simt::on_issue(nullptr);
#endif
    error_ = cudaPeekAtLastError();
}

int LaunchWatch::operations() const {
#ifdef SIMT_CPU
    if (seen.waits > 0) return 0;
    return seen.on_stream + seen.default_kernels + seen.default_graphs +
           seen.default_operations + seen.host_functions;
#else
    return 0;
#endif
}

bool LaunchWatch::has_other_streams() const {
#ifdef SIMT_CPU
    return seen.elsewhere > 0;
#else
    return false;
#endif
}

bool LaunchWatch::has_made_objects() const {
#ifdef SIMT_CPU
    return simt::objects().made > made_before_;
#else
    return false;
#endif
}

std::optional<Finding> LaunchWatch::judge(
    [[maybe_unused]] const std::function<bool()>& has_output,
    [[maybe_unused]] bool may_wait) const {
    if (error_ != cudaSuccess) {
        (void)cudaGetLastError();  // else the next call is blamed for it
        Finding left = broken(
            "pending_error",
            std::string("a CUDA call failed, and nobody looked: ") +
                cudaGetErrorName(error_),
            "CUDA_CHECK(…) around each call, CUDA_CHECK_LAUNCH() behind each launch");
        left.numbers.error = cudaGetErrorName(error_);
        return left;
    }
    if (const std::string name = changed_setting(); !name.empty())
        return broken("changes_setting", told_of_setting(name), kSettingAdvice);
#ifdef SIMT_CPU
    if (seen.waits > 0 && !may_wait)
        return broken("waits",
                      "it must return without waiting, but it waits: for a stream, an "
                      "event, the device, for a copy from or to the host, or in "
                      "cudaFree()",
                      "whoever needs the result waits for the stream");
    // First: the kernels of a graph may be counted as well.
    if (seen.default_graphs > 0)
        return broken("default_stream",
                      "a graph was launched on the default stream, not on the one that "
                      "the function was given",
                      "the stream is the second argument of cudaGraphLaunch()");
    if (seen.default_kernels > 0)
        return broken(
            "default_stream",
            "a kernel was launched on the default stream, not on the one "
            "that the function was given",
            "the stream is the fourth of <<<blocks, threads, bytes, stream>>>");
    if (seen.default_operations > 0 && !may_wait)
        return broken("default_stream",
                      "a copy or a fill was put on the default stream, not on the one "
                      "that the function was given",
                      "cudaMemsetAsync() and cudaMemcpyAsync() take a stream");
    if (seen.default_memory > 0 && !may_wait)
        return broken("default_stream",
                      "memory was allocated or freed in the order of the default "
                      "stream, not of the one that the function was given: others may "
                      "get it while kernels still use it",
                      "cudaMallocAsync(), cudaFreeAsync(), wb::Scratch take a stream");
    if (seen.host_functions > 0)
        return broken(
            "host_function",
            "the host has a share in the work: cudaLaunchHostFunc() is among "
            "what was put on the stream",
            "kernels compute; a host function holds up all that is behind it");
    if (seen.on_stream + seen.elsewhere == 0 && has_output())
        return broken("no_launch",
                      std::string("the result is there, but nothing was put on the "
                                  "stream: the host has computed it") +
                          (may_wait ? "" : ", with pointers to device memory"),
                      may_wait ? "what is to be computed is work for kernels"
                               : "a GPU's memory cannot be read from the host");
    // On a GPU the first launch of a kernel takes memory for its code.
    if (const std::size_t free = free_memory(); free < free_before_) {
        Finding kept = broken("keeps_memory",
                              "it keeps " + std::to_string(free_before_ - free) +
                                  " bytes that it has allocated",
                              "what a call allocates, it frees: wb::Scratch does");
        kept.numbers.measured = static_cast<double>(free_before_ - free);
        return kept;
    }
#endif
    return std::nullopt;
}

}  // namespace wb::testing
