// Each of these headers brings the part of cuda::std that its names are made of.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

__global__ void k(int* data) {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*data);
    a.store(1, cuda::std::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::std::memory_order_release,
                              cuda::thread_scope_device);
}
cuda::std::atomic<int>* a;
cuda::std::barrier<>* b;
cuda::std::latch* l;
cuda::std::binary_semaphore* s;
int main() {
    k<<<1, 1>>>(nullptr);
    volatile cuda::std::atomic<int>& polled = *a;
    return polled.load(cuda::std::memory_order_acquire);
}
