// Launches that a GPU refuses.
#include "planted.h"

template <int kThreads>
__global__ void __launch_bounds__(kThreads) numbers(int* out) {
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
}
PLANTED(refused_launch, more_threads_than_launch_bounds) {
    int* const out = planted::zeros<int>(256);
    numbers<128><<<1, 256>>>(out);  // more_threads_than_launch_bounds
}
PLANTED(none, as_many_threads_as_launch_bounds) {
    numbers<128><<<1, 128>>>(planted::zeros<int>(128));
}
