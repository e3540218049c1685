// A smaller GPU than there is, for what launchers do on it: simulated, and a real one.
#include <cuda_runtime.h>
#include <wb/device.h>
#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

#include "kernels.h"

using namespace wb::testing;

namespace {

cudaDeviceProp properties() {
    cudaDeviceProp all{};
    CUDA_CHECK(cudaGetDeviceProperties(&all, 0));
    return all;
}

}  // namespace

TEST_CASE("a smaller GPU: few multiprocessors, for a while") {
    const int all = wb::multiprocessors();
    REQUIRE(all > 2);
    {
        const FewMultiprocessors few(2);
        CHECK(wb::multiprocessors() == 2);
        CHECK(FewMultiprocessors::count() == 2);
        CHECK(properties().multiProcessorCount == 2);
    }
    CHECK(wb::multiprocessors() == all);
    CHECK(properties().multiProcessorCount == all);
}

TEST_CASE("a smaller GPU: little shared memory, for a while") {
    constexpr int kLittle = 48 * 1024;
    const int most = wb::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    REQUIRE(most > kLittle);
    {
        const LittleSharedMemory little;
        CHECK(wb::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == kLittle);
        CHECK(properties().sharedMemPerBlockOptin == std::size_t{kLittle});
        CHECK(allow_shared(kLittle) == cudaSuccess);
        CHECK(allow_shared(kLittle + 1) == cudaErrorInvalidValue);
        CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    }
    CHECK(allow_shared(most) == cudaSuccess);
}

TEST_CASE("a smaller GPU: an older one, for a while") {
    const int newest = wb::compute_capability();
    REQUIRE(newest > 75);
    {
        const OldGpu old(75);
        CHECK(wb::compute_capability() == 75);
        CHECK(properties().major == 7);
        CHECK(properties().minor == 5);
    }
    CHECK(wb::compute_capability() == newest);
    CHECK(properties().major == newest / 10);
}

TEST_CASE("a smaller GPU: a small cache, for a while") {
    const int bytes = wb::device_attribute(cudaDevAttrL2CacheSize);
    REQUIRE(bytes > 4096);
    {
        const SmallCache small(4096);
        CHECK(wb::device_attribute(cudaDevAttrL2CacheSize) == 4096);
        CHECK(properties().l2CacheSize == 4096);
    }
    CHECK(wb::device_attribute(cudaDevAttrL2CacheSize) == bytes);
}
