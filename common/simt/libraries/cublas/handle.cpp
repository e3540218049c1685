// Handles, settings and names.

#include <thread>

#include "api/handles.h"
#include "call.h"
#include "core/options.h"

// Only OpenBLAS has this function; other libraries keep their own number of threads.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int threads);

namespace simt::cublas {
namespace {

detail::HandleTable<cublasContext>& handles() {
    static auto* const table = new detail::HandleTable<cublasContext>;
    return *table;
}

// The matrices of a workbook are small: more threads than the simulator's own would
// only wait for each other.
void limit_threads() {
    static const bool done = [] {
        if (openblas_set_num_threads)
            openblas_set_num_threads(static_cast<int>(detail::options().workers));
        return true;
    }();
    (void)done;
}

/// Runs `body` with the context behind a valid handle.
template <class Body>
cublasStatus_t with_handle(cublasHandle_t handle, Body body) {
    return is_handle(handle) ? body(*handle) : CUBLAS_STATUS_NOT_INITIALIZED;
}

template <class T>
cublasStatus_t give(T* out, T value) {
    if (!out) return CUBLAS_STATUS_INVALID_VALUE;
    *out = value;
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t take(T& setting, T value, bool known) {
    if (!known) return CUBLAS_STATUS_INVALID_VALUE;
    setting = value;
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

bool is_handle(cublasHandle_t handle) {
    return handle && handles().contains(handle);
}

}  // namespace simt::cublas

using namespace simt::cublas;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    limit_threads();
    *handle = handles().insert(std::make_unique<cublasContext>());
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    return handles().remove(handle) ? CUBLAS_STATUS_SUCCESS
                                    : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
    return give(version, CUBLAS_VERSION);
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
    switch (type) {
        case MAJOR_VERSION:
            return give(value, CUBLAS_VER_MAJOR);
        case MINOR_VERSION:
            return give(value, CUBLAS_VER_MINOR);
        case PATCH_LEVEL:
            return give(value, CUBLAS_VER_PATCH);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

size_t cublasGetCudartVersion() {
    return CUDART_VERSION;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    return with_handle(handle, [&](auto& c) { return take(c.stream, stream, true); });
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
    return with_handle(handle, [&](auto& c) { return give(stream, c.stream); });
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    const bool known =
        mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE;
    return with_handle(handle,
                       [&](auto& c) { return take(c.pointer_mode, mode, known); });
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
    return with_handle(handle, [&](auto& c) { return give(mode, c.pointer_mode); });
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    const bool known =
        mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED;
    return with_handle(handle,
                       [&](auto& c) { return take(c.atomics_mode, mode, known); });
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    return with_handle(handle, [&](auto& c) { return give(mode, c.atomics_mode); });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    const int base = mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    const bool known =
        base >= CUBLAS_DEFAULT_MATH && base <= CUBLAS_TF32_TENSOR_OP_MATH;
    return with_handle(handle, [&](auto& c) { return take(c.math_mode, mode, known); });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
    return with_handle(handle, [&](auto& c) { return give(mode, c.math_mode); });
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) {
    return with_handle(handle, [](auto&) { return CUBLAS_STATUS_SUCCESS; });
}

const char* cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS:
            return "CUBLAS_STATUS_SUCCESS";
        case CUBLAS_STATUS_NOT_INITIALIZED:
            return "CUBLAS_STATUS_NOT_INITIALIZED";
        case CUBLAS_STATUS_ALLOC_FAILED:
            return "CUBLAS_STATUS_ALLOC_FAILED";
        case CUBLAS_STATUS_INVALID_VALUE:
            return "CUBLAS_STATUS_INVALID_VALUE";
        case CUBLAS_STATUS_ARCH_MISMATCH:
            return "CUBLAS_STATUS_ARCH_MISMATCH";
        case CUBLAS_STATUS_MAPPING_ERROR:
            return "CUBLAS_STATUS_MAPPING_ERROR";
        case CUBLAS_STATUS_EXECUTION_FAILED:
            return "CUBLAS_STATUS_EXECUTION_FAILED";
        case CUBLAS_STATUS_INTERNAL_ERROR:
            return "CUBLAS_STATUS_INTERNAL_ERROR";
        case CUBLAS_STATUS_NOT_SUPPORTED:
            return "CUBLAS_STATUS_NOT_SUPPORTED";
        case CUBLAS_STATUS_LICENSE_ERROR:
            return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "unrecognized status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS:
            return "success";
        case CUBLAS_STATUS_NOT_INITIALIZED:
            return "the library was not initialized";
        case CUBLAS_STATUS_ALLOC_FAILED:
            return "the resource allocation failed";
        case CUBLAS_STATUS_INVALID_VALUE:
            return "an unsupported value or parameter was passed to the function";
        case CUBLAS_STATUS_ARCH_MISMATCH:
            return "the function requires an architectural feature absent from the "
                   "device";
        case CUBLAS_STATUS_MAPPING_ERROR:
            return "an access to GPU memory space failed";
        case CUBLAS_STATUS_EXECUTION_FAILED:
            return "the function failed to launch on the GPU";
        case CUBLAS_STATUS_INTERNAL_ERROR:
            return "an internal operation failed";
        case CUBLAS_STATUS_NOT_SUPPORTED:
            return "the requested functionality is not supported";
        case CUBLAS_STATUS_LICENSE_ERROR:
            return "the license check failed";
    }
    return "unrecognized status";
}
