#include "call.h"

#include "api/call.h"
#include "api/pointers.h"
#include "api/stream.h"
#include "core/observer.h"

namespace simt::cublas {

using detail::hint;

Call::Call(cudaStream_t stream, cublasPointerMode_t mode, const char* name)
    : stream_(stream), name_(name), mode_(mode) {}

Call::Call(cublasHandle_t handle, const char* name) : name_(name) {
    if (is_handle(handle)) {
        stream_ = handle->stream;
        mode_ = handle->pointer_mode;
    } else {
        hint("%s: the handle was not made by cublasCreate, or was destroyed", name);
        fail(CUBLAS_STATUS_NOT_INITIALIZED);
    }
}

void Call::fail(cublasStatus_t status) {
    if (ok()) status_ = status;
}

void Call::sizes(std::initializer_list<int> values) {
    for (const int value : values)
        if (value < 0) fail(CUBLAS_STATUS_INVALID_VALUE);
}

void Call::operation(cublasOperation_t value) {
    if (value != CUBLAS_OP_N && value != CUBLAS_OP_T && value != CUBLAS_OP_C)
        fail(CUBLAS_STATUS_INVALID_VALUE);
}

void Call::fill_mode(cublasFillMode_t value) {
    if (value != CUBLAS_FILL_MODE_LOWER && value != CUBLAS_FILL_MODE_UPPER)
        fail(CUBLAS_STATUS_INVALID_VALUE);
}

void Call::side(cublasSideMode_t value) {
    if (value != CUBLAS_SIDE_LEFT && value != CUBLAS_SIDE_RIGHT)
        fail(CUBLAS_STATUS_INVALID_VALUE);
}

void Call::diagonal(cublasDiagType_t value) {
    if (value != CUBLAS_DIAG_NON_UNIT && value != CUBLAS_DIAG_UNIT)
        fail(CUBLAS_STATUS_INVALID_VALUE);
}

void Call::memory(const void* pointer, size_t bytes, const char* name) {
    if (ok() && !detail::check_range(pointer, bytes, detail::Side::device, name_, name))
        fail(CUBLAS_STATUS_INVALID_VALUE);
}

void Call::matrix(const void* A, int rows, int cols, int ld, size_t element,
                  const char* name) {
    if (!ok()) return;
    if (ld < std::max(1, rows)) {
        hint(
            "%s: the leading dimension of %s (%d) is less than its %d rows "
            "(matrices are column-major)",
            name_, name, ld, rows);
        return fail(CUBLAS_STATUS_INVALID_VALUE);
    }
    if (rows <= 0 || cols <= 0) return;
    const size_t count = static_cast<size_t>(cols - 1) * static_cast<size_t>(ld) +
                         static_cast<size_t>(rows);
    memory(A, count * element, name);
}

void Call::writes(void* begin, size_t bytes, int count, size_t pitch) {
    if (!ok() || !detail::observer || count <= 0) return;
    written_.push_back(
        {static_cast<char*>(begin), bytes, static_cast<size_t>(count), pitch});
}

void Call::tell(const std::vector<Rows>& written) {
    for (const Rows& rows : written)
        for (size_t i = 0; i < rows.count; ++i)
            detail::observer->host_wrote(rows.begin + i * rows.pitch, rows.bytes);
}

bool Call::place(const void* pointer, size_t bytes, const char* name) {
    if (!ok()) return false;
    const bool device = mode_ == CUBLAS_POINTER_MODE_DEVICE;
    const auto side = device ? detail::Side::device : detail::Side::host;
    if (detail::check_range(pointer, bytes, side, name_, name)) return true;
    hint("%s: cublasSetPointerMode says that %s is in %s memory", name_, name,
         device ? "device" : "host");
    fail(CUBLAS_STATUS_INVALID_VALUE);
    return false;
}

bool Call::begin() {
    const bool broken = detail::sticky_error() != cudaSuccess ||
                        detail::check_stream(stream_) != cudaSuccess;
    if (broken) fail(CUBLAS_STATUS_EXECUTION_FAILED);
    if (detail::capturing(stream_)) return false;
    // It runs now, not when its stream gets there.
    if (!broken) detail::finish_stream(*detail::find_stream(stream_));
    return true;
}

void Call::record(std::function<void()> work) {
    detail::record_kernel({stream_, name_, nullptr, dim3(1), dim3(1), 0,
                           [work = std::move(work)](cudaStream_t) { work(); }});
}

}  // namespace simt::cublas
