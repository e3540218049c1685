// What CUDA has and the simulator does not.
#include <cuda.h>
#include <cub/cub.cuh>
#include <curand_kernel.h>

template <class T>
__global__ void generic(T* p) {
    // says: __nv_bswap32 is not supported by the simulator; guard
    *p = __nv_bswap32(*p);
}
int main() {
    generic<<<1, 1>>>(static_cast<unsigned*>(nullptr));
    cudaExternalMemory_t memory;              // says: cudaExternalMemory_t is not supp
    cudaGraphicsUnregisterResource(nullptr);  // says: cudaGraphicsUnregisterResource is
    // says: CU_CTX_SCHED_AUTO is not supported by the simulator; guard it with
    (void)CU_CTX_SCHED_AUTO;
    CUmodule module;  // says: CUmodule is not supported by the
    // says: cuModuleUnload is not supported by
    cuModuleUnload(nullptr);
    // says: DeviceMergeSort is not supported by
    cub::DeviceMergeSort partition;
    // says: curand_poisson_knuth is not supported by
    (void)curand_poisson_knuth(static_cast<curandState*>(nullptr), 2);
    curandStateMRG32k3a state;  // says: curandStateMRG32k3a is not supported by
    curand_init(1, 0, 0, &state);  // nothing: the type was refused
    // says: BlockShuffle is not supported by
    using Shuffle = cub::BlockShuffle<int, 128>;
    typename Shuffle::TempStorage storage;
    Shuffle(storage).Offset(3, state);
    cudaMaloc(nullptr, 3);  // says: was not declared in this scope
}
__global__ void k(unsigned* p) {
    // says: __nv_bswap32 is not supported by the simulator; guard
    *p = __nv_bswap32(*p);
}
