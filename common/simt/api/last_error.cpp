// The last error of the host thread.
//
// A fault in a kernel is a last error too, once for each thread. After that only the
// calls that need the context go on to report it (as seen on an H100).

#include "core/error.h"

using namespace simt::detail;

namespace {

thread_local bool t_fault_seen = false;

/// The fault, if this thread has not been told of it yet.
cudaError_t unseen_fault() {
    const cudaError_t fault = sticky_error();
    if (fault == cudaSuccess) t_fault_seen = false;
    return t_fault_seen ? cudaSuccess : fault;
}

}  // namespace

cudaError_t cudaGetLastError() {
    const cudaError_t fault = unseen_fault();
    const cudaError_t last = take_error();
    if (fault == cudaSuccess) return last;
    t_fault_seen = true;
    return fault;
}

cudaError_t cudaPeekAtLastError() {
    const cudaError_t fault = unseen_fault();
    return fault == cudaSuccess ? last_error() : fault;
}
