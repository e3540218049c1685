// What the simulator makes of mistakes with thread block clusters. Correct programs:
// tests/conformance/cluster.cu; races: tests/check/planted/cluster.cu.
#include <cooperative_groups.h>

#include <string>

#include "hopper.h"
#include "simt/last_fault.h"

namespace cg = cooperative_groups;

namespace {

enum class Mistake {
    none,
    rank_outside,
    no_shared_address,
    arrives_twice,
    waits_without_arrival,
    waits_elsewhere,
    tells_one_that_has_ended,
    waits_for_nobody,
};

__global__ void __cluster_dims__(2) act(Mistake mistake, int* out) {
    __shared__ alignas(8) uint64_t bar;
    __shared__ int s[32];
    const auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    s[threadIdx.x] = 10 * rank;
    if (threadIdx.x == 0) simt::ptx::mbarrier_init(&bar, 1);
    cluster.sync();
    uint64_t* const theirs = cluster.map_shared_rank(&bar, rank ^ 1);
    switch (mistake) {
        case Mistake::rank_outside:
            out[threadIdx.x] = *cluster.map_shared_rank(s, 2);
            break;
        case Mistake::no_shared_address:
            out[threadIdx.x] = *cluster.map_shared_rank(out, 1);
            break;
        case Mistake::arrives_twice:
            cluster.barrier_arrive();
            cluster.barrier_arrive();
            break;
        case Mistake::waits_without_arrival:
            cluster.barrier_wait();
            break;
        case Mistake::waits_elsewhere:
            simt::ptx::mbarrier_wait(theirs, 0);
            break;
        case Mistake::tells_one_that_has_ended:
            if (rank == 0) return;
            for (int i = 0; i < 100; ++i)
                __nanosleep(1);
            if (threadIdx.x == 0) simt::ptx::mbarrier_arrive(theirs);
            break;
        case Mistake::waits_for_nobody:
            if (rank == 1 && threadIdx.x == 7) simt::ptx::mbarrier_wait(&bar, 0);
            break;
        case Mistake::none:
            out[threadIdx.x] = *cluster.map_shared_rank(s, 1);
            break;
    }
    cluster.sync();
}

/// A template whose argument a launch with a double deduces: its address is not known.
template <class T>
__global__ void __cluster_dims__(2) deduced(T* out, float scale) {
    out[blockIdx.x] = T(scale);
}

/// The report must have the words.
void expect_fault(cudaError_t code, const std::string& words) {
    const cudaError_t got = cudaDeviceSynchronize();
    const std::string report = simt::last_fault();
    check::expect(got == code, "the error code");
    check::expect(report.find(words) != report.npos, words.c_str());
    cudaDeviceReset();
}

void expect(Mistake mistake, cudaError_t code, const std::string& words) {
    int* out = nullptr;
    check::need(cudaMalloc(&out, 32 * sizeof(int)), "cudaMalloc");
    act<<<2, 32>>>(mistake, out);
    expect_fault(code, words);
}

}  // namespace

int main() {
    int* out = nullptr;
    check::need(cudaMallocManaged(&out, 32 * sizeof(int)), "cudaMallocManaged");
    act<<<2, 32>>>(Mistake::none, out);
    check::need(cudaDeviceSynchronize(), "a kernel without a mistake");
    check::expect(out[31] == 10, "what block 1 has written");

    expect(Mistake::rank_outside, cudaErrorLaunchFailure, "it has 2 blocks");
    expect(Mistake::no_shared_address,
           cudaErrorLaunchFailure,
           "which is no address of shared memory");
    expect(Mistake::arrives_twice,
           cudaErrorLaunchFailure,
           "a second time, without a wait for the first arrival");
    expect(Mistake::waits_without_arrival,
           cudaErrorLaunchFailure,
           "without an arrival before it");
    expect(Mistake::waits_elsewhere,
           cudaErrorLaunchFailure,
           "others of the cluster may arrive");
    expect(Mistake::tells_one_that_has_ended,
           cudaErrorLaunchFailure,
           "mbarrier of block (0,0,0) of the cluster, which has ended");
    expect(Mistake::waits_for_nobody,
           cudaErrorLaunchTimeout,
           "no thread of the cluster can go on");

    check::need(cudaMalloc(&out, 32 * sizeof(int)), "cudaMalloc");
    deduced<<<2, 1>>>(out, 1.0f);
    check::need(cudaDeviceSynchronize(), "a kernel that the arguments choose");
    deduced<<<2, 1>>>(out, 1.0);
    expect_fault(cudaErrorLaunchFailure, "which its launch could not know");
    return check::report();
}
