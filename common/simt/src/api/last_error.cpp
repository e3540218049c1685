// The last error of the host thread.

#include "../error.h"

using namespace simt::detail;

cudaError_t cudaGetLastError() {
    const cudaError_t fault = sticky_error();
    const cudaError_t last = take_error();
    return fault != cudaSuccess ? fault : last;
}

cudaError_t cudaPeekAtLastError() {
    const cudaError_t fault = sticky_error();
    return fault != cudaSuccess ? fault : last_error();
}
