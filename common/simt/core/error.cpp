#include "error.h"

#include <atomic>

namespace simt::detail {
namespace {

thread_local cudaError_t g_last = cudaSuccess;
std::atomic<cudaError_t> g_sticky{cudaSuccess};

}  // namespace

cudaError_t set_error(cudaError_t error) {
    if (error != cudaSuccess) g_last = error;
    return error;
}

cudaError_t last_error() {
    return g_last;
}

cudaError_t take_error() {
    const cudaError_t error = g_last;
    g_last = cudaSuccess;
    return error;
}

cudaError_t sticky_error() {
    return g_sticky.load(std::memory_order_relaxed);
}

void set_sticky_error(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    g_sticky.compare_exchange_strong(none, error);
}

void clear_sticky_error() {
    g_sticky = cudaSuccess;
    g_last = cudaSuccess;
}

}  // namespace simt::detail
