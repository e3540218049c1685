// From the launch statement to the core: streams, captures, launches by kernels.

#include "simt/launch.h"

#include <functional>
#include <memory>
#include <vector>

#include "call.h"
#include "core/devices.h"
#include "core/fault.h"
#include "core/launch.h"
#include "stream.h"

namespace simt::detail {
namespace {

/// The launch, to be made later and any number of times.
std::function<void(cudaStream_t)> repeatable(const Config& config, const Body& body) {
    std::shared_ptr<const void> context = keep(body);
    std::vector<const void*> pointers(body.pointers,
                                      body.pointers + body.pointer_count);
    return [config, body, context, pointers,
            device = current_device()](cudaStream_t stream) {
        const OnDevice scope(device);
        Config place = config;
        place.stream = stream;
        Body again = body;
        again.context = context.get();
        again.pointers = pointers.data();
        launch(place, again);
    };
}

void record(const Config& config, const Body& body) {
    record_kernel({config.stream, body.name, body.address, config.grid, config.block,
                   config.smem, repeatable(config, body)});
}

/// Queues the launch, where streams are asynchronous.
void launch_later(const Config& config, const Body& body) {
    defer(
        *find_stream(config.stream),
        [repeat = repeatable(config, body), stream = config.stream] {
            repeat(stream);
            return cudaSuccess;
        },
        Weight::one);
}

}  // namespace

void launch(const Config& config, const Body& body) {
    if (const cudaError_t fault = sticky_error(); fault != cudaSuccess) {
        set_error(fault);
        return;
    }
    if (in_kernel()) return launch_child(config, body);
    if (!is_possible(config, body)) return;
    if (const cudaError_t error = check_stream(config.stream); error != cudaSuccess) {
        set_error(error);
        return;
    }
    const CUstream_st* stream = device_count() > 1 && !device_is_borrowed()
                                    ? find_stream(config.stream)
                                    : nullptr;
    if (stream && stream->device != current_device()) {
        refuse(cudaErrorInvalidResourceHandle, config, body.name,
               format("the stream belongs to device %d, and the host thread's device "
                      "is %d (cudaSetDevice)",
                      stream->device, current_device()));
        return;
    }
    tell_issue(Issue::kernel, config.stream);
    if (capturing(config.stream)) return record(config, body);
    if (deferring()) {
        ++g_issued.kernels;
        return launch_later(config, body);
    }
    if (!running_task()) ++g_issued.kernels;
    run_launch(config, body);
}

}  // namespace simt::detail
