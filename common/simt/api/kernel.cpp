// Launching kernels by address, and their attributes.

#include "simt/api/kernel.h"

#include "call.h"
#include "core/cluster.h"
#include "core/device_model.h"
#include "core/kernel_attributes.h"
#include "kernel_operation.h"
#include "occupancy.h"
#include "simt/api/stream.h"

using namespace simt::detail;

namespace {

cudaError_t launch_cooperative(const void* function, const LaunchRequest& request,
                               void** args) {
    if (!fits_cooperatively(request.grid, request.block, request.shared_bytes)) {
        hint(
            "cooperative launch of %u x %u x %u blocks: they cannot all be resident on "
            "the %d multiprocessors of the simulated device",
            request.grid.x, request.grid.y, request.grid.z, multiprocessors());
        return cudaErrorCooperativeLaunchTooLarge;
    }
    return launch_kernel(function, request, args);
}

/// Reads the attributes of a launch into the request.
cudaError_t apply_attributes(const cudaLaunchConfig_t& config, LaunchRequest& request) {
    if (config.numAttrs > 0 && !config.attrs) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config.attrs[i];
        switch (attribute.id) {
            case cudaLaunchAttributeCooperative:
                request.cooperative = attribute.val.cooperative != 0;
                break;
            case cudaLaunchAttributeClusterDimension: {
                const auto& cluster = attribute.val.clusterDim;
                if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) {
                    hint("a cluster of %u x %u x %u blocks", cluster.x, cluster.y,
                         cluster.z);
                    return cudaErrorInvalidClusterSize;
                }
                request.cluster = dim3(cluster.x, cluster.y, cluster.z);
                break;
            }
            // The kernel may begin early; here it never does. The checker knows.
            case cudaLaunchAttributeProgrammaticStreamSerialization:
                request.programmatic =
                    attribute.val.programmaticStreamSerializationAllowed != 0;
                break;
            case cudaLaunchAttributeDeviceUpdatableKernelNode:
                hint("device-updatable kernel nodes are not simulated");
                return cudaErrorNotSupported;
            case cudaLaunchAttributeIgnore:
            // Nothing is cached, and blocks come one after another.
            case cudaLaunchAttributeAccessPolicyWindow:
            case cudaLaunchAttributePreferredSharedMemoryCarveout:
            case cudaLaunchAttributePriority:
            case cudaLaunchAttributeSynchronizationPolicy:
            case cudaLaunchAttributeNvlinkUtilCentricScheduling:
            case cudaLaunchAttributeClusterSchedulingPolicyPreference:
            // A preference that need not be met.
            case cudaLaunchAttributePreferredClusterDimension:
            // Memory is strongly ordered.
            case cudaLaunchAttributeMemSyncDomain:
            case cudaLaunchAttributeMemSyncDomainMap:
            // After the launch: see record_events.
            case cudaLaunchAttributeProgrammaticEvent:
            case cudaLaunchAttributeLaunchCompletionEvent:
                break;
            default:
                hint("launch attribute %d is not known",
                     static_cast<int>(attribute.id));
                return cudaErrorInvalidValue;
        }
    }
    return cudaSuccess;
}

/// Records the events of a launch's attributes, when it ends: they may come so late.
cudaError_t record_events(const cudaLaunchConfig_t& config) {
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config.attrs[i];
        cudaEvent_t event = nullptr;
        if (attribute.id == cudaLaunchAttributeProgrammaticEvent)
            event = attribute.val.programmaticEvent.event;
        else if (attribute.id == cudaLaunchAttributeLaunchCompletionEvent)
            event = attribute.val.launchCompletionEvent.event;
        else
            continue;
        if (const cudaError_t error = cudaEventRecord(event, config.stream))
            return error;
    }
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             size_t shared_bytes, cudaStream_t stream, const char* file,
                             int line) {
    return api_call([&] {
        const LaunchRequest request = {grid,  block, shared_bytes, stream,
                                       false, file,  line};
        return launch_kernel(function, request, args);
    });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** args, size_t shared_bytes,
                                        cudaStream_t stream, const char* file,
                                        int line) {
    return api_call([&] {
        const LaunchRequest request = {grid, block, shared_bytes, stream,
                                       true, file,  line};
        return launch_cooperative(function, request, args);
    });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** args, const char* file, int line) {
    return api_call([&] {
        if (!config) return cudaErrorInvalidValue;
        LaunchRequest request = {config->gridDim,
                                 config->blockDim,
                                 config->dynamicSmemBytes,
                                 config->stream,
                                 false,
                                 file,
                                 line};
        if (const cudaError_t error = apply_attributes(*config, request)) return error;
        const cudaError_t error = request.cooperative
                                      ? launch_cooperative(function, request, args)
                                      : launch_kernel(function, request, args);
        return error == cudaSuccess ? record_events(*config) : error;
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                  const void* function) {
    return api_call([&] {
        if (!attributes) return cudaErrorInvalidValue;
        if (!is_kernel(function)) return not_a_kernel(function);
        const DeviceModel& model = device_model();
        // Static shared memory is not known before a kernel has run: 0 is reported.
        *attributes = {};
        attributes->maxThreadsPerBlock = max_threads(function);
        attributes->numRegs = DeviceModel::kAssumedRegistersPerThread;
        attributes->ptxVersion = attributes->binaryVersion = model.arch;
        attributes->maxDynamicSharedSizeBytes =
            static_cast<int>(max_dynamic_smem(function));
        attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
        const dim3 cluster = required_cluster(function);
        attributes->clusterDimMustBeSet = cluster.x != 0;
        attributes->requiredClusterWidth = static_cast<int>(cluster.x);
        attributes->requiredClusterHeight = static_cast<int>(cluster.y);
        attributes->requiredClusterDepth = static_cast<int>(cluster.z);
        attributes->nonPortableClusterSizeAllowed =
            allows_non_portable_cluster(function);
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute,
                                 int value) {
    return api_call([&] {
        if (!is_kernel(function)) return not_a_kernel(function);
        switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize: {
                const size_t most = shared_per_block_optin();
                if (value < 0 || static_cast<size_t>(value) > most) {
                    hint(
                        "cudaFuncSetAttribute: %d bytes of dynamic shared memory, but "
                        "a "
                        "block of this device has %zu at most",
                        value, most);
                    return cudaErrorInvalidValue;
                }
                return set_max_dynamic_smem(function, static_cast<size_t>(value))
                           ? cudaSuccess
                           : cudaErrorInvalidValue;
            }
            case cudaFuncAttributePreferredSharedMemoryCarveout:
                return value >= -1 && value <= 100 ? cudaSuccess
                                                   : cudaErrorInvalidValue;
            case cudaFuncAttributeNonPortableClusterSizeAllowed:
                allow_non_portable_cluster(function, value != 0);
                return cudaSuccess;
            case cudaFuncAttributeClusterSchedulingPolicyPreference:
                return cudaSuccess;
            case cudaFuncAttributeRequiredClusterWidth:
            case cudaFuncAttributeRequiredClusterHeight:
            case cudaFuncAttributeRequiredClusterDepth:
                if (value < 0) return cudaErrorInvalidValue;
                if (require_cluster_later(
                        function, attribute - cudaFuncAttributeRequiredClusterWidth,
                        static_cast<unsigned>(value)))
                    return cudaSuccess;
                hint("cudaFuncSetAttribute: the kernel has __cluster_dims__");
                return cudaErrorNotPermitted;
            case cudaFuncAttributeClusterDimMustBeSet:
                hint("cudaFuncSetAttribute: ClusterDimMustBeSet is not simulated");
                return cudaErrorNotSupported;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
    return api_call([&] {
        if (!is_kernel(function)) return not_a_kernel(function);
        const bool known =
            config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
        return known ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
    return api_call(
        [&] { return is_kernel(function) ? cudaSuccess : not_a_kernel(function); });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
    return api_call([&] {
        if (!name) return cudaErrorInvalidValue;
        const KernelEntry* entry = find_kernel(function);
        if (!entry) return not_a_kernel(function);
        *name = entry->name;
        return cudaSuccess;
    });
}
