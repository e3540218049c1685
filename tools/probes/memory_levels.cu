// How far away is each memory of this GPU, and how much comes from it in a second?
//
//   nvcc -O3 -std=c++17 -arch=native tools/probes/memory_levels.cu -o memory_levels
//   ./memory_levels > book/data/memory_levels.json && npm run pictures
//
// Latency: one thread follows a chain of addresses in random order, each load waits for
// the one before. Bandwidth: every multiprocessor reads 16 bytes a thread, again and
// again. Both loads carry a cache operator: .ca is kept in L1, .cg in L2 only.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr int kLine = 128;          // bytes of a cache line: a node of a chain
constexpr int kThreads = 1024;      // threads of a block that measures bandwidth
constexpr int kSharedNodes = 1024;  // uint32 in shared memory
constexpr size_t kMiB = 1024 * 1024;

enum class Level { kShared, kL1, kL2 };

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}
#define CHECK(expression) check(expression, #expression)

__device__ uint64_t nanoseconds() {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/// One load of a chain in global memory. L1: may be kept there; otherwise L2 is asked.
template <bool L1>
__device__ uint64_t load(uint64_t address) {
    uint64_t value;
    if constexpr (L1)
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(address));
    else
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(address));
    return value;
}

/// Follows `steps` nodes of a chain after `warm` others. result: clocks, nanoseconds,
/// and the last node, so that no load can be left out.
template <bool L1>
__global__ void chase_global(uint64_t first, int warm, int steps, uint64_t* result) {
    uint64_t at = first;
    for (int i = 0; i < warm; ++i)
        at = load<L1>(at);
    const uint64_t begin_ns = nanoseconds();
    const long long begin = clock64();
    for (int i = 0; i < steps; ++i)
        at = load<L1>(at);
    result[0] = clock64() - begin;  // perhaps without the last load: one in thousands
    result[1] = nanoseconds() - begin_ns;
    result[2] = at;
}

/// The same in shared memory, node i + 33 after node i.
__global__ void chase_shared(int steps, uint64_t* result) {
    __shared__ uint32_t s_chain[kSharedNodes];
    const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(s_chain));
    for (int i = 0; i < kSharedNodes; ++i)
        s_chain[i] = base + 4 * ((i + 33) % kSharedNodes);
    uint32_t at = base;
    const uint64_t begin_ns = nanoseconds();
    const long long begin = clock64();
    for (int i = 0; i < steps; ++i)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(at) : "memory");
    result[0] = clock64() - begin;
    result[1] = nanoseconds() - begin_ns;
    result[2] = at;
}

/// Every thread reads 16 bytes `times` times. L2: the blocks walk over all of `bytes`;
/// L1 and shared: 16 KiB for each block, the same each time.
template <Level level>
__global__ void __launch_bounds__(kThreads)
    read_all(const uint4* data, size_t bytes, int times, uint32_t* sink) {
    __shared__ uint4 s_data[kThreads];
    s_data[threadIdx.x] = make_uint4(threadIdx.x, 0, 0, 0);
    __syncthreads();
    const size_t packs = bytes / sizeof(uint4);
    const uint32_t first = static_cast<uint32_t>(__cvta_generic_to_shared(s_data));
    uint32_t shared = first + threadIdx.x * static_cast<uint32_t>(sizeof(uint4));
    size_t at = level == Level::kL2
                    ? (static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x) % packs
                    : threadIdx.x;
    // Of L1 and shared memory each warp reads what its neighbour has read before.
    const size_t stride =
        level == Level::kL2 ? static_cast<size_t>(gridDim.x) * kThreads % packs : 32;
    uint32_t sum = 0;
#pragma unroll 8
    for (int i = 0; i < times; ++i) {
        uint4 v;
        if constexpr (level == Level::kShared)
            asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "r"(shared));
        else if constexpr (level == Level::kL1)
            asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "l"(data + at));
        else
            asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "l"(data + at));
        sum += v.x ^ v.y ^ v.z ^ v.w;
        // Never the same address twice in a row: the assembler would load it once.
        at += stride;
        if (at >= packs) at -= packs;
        if constexpr (level == Level::kShared)
            shared = first + static_cast<uint32_t>(at * sizeof(uint4));
    }
    if (sum == 0xdeadbeefu) *sink = sum;
}

/// A chain through all lines of `bytes` at `address` in random order, one cycle.
std::vector<uint64_t> chain_of(const void* address, size_t bytes) {
    const size_t lines = bytes / kLine;
    constexpr size_t kWords = kLine / sizeof(uint64_t);
    std::vector<uint32_t> order(lines);
    std::vector<uint64_t> chain(bytes / sizeof(uint64_t), 0);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937(23));
    const uint64_t base = reinterpret_cast<uint64_t>(address);
    for (size_t i = 0; i < lines; ++i)
        chain[order[i] * kWords] = base + size_t{order[(i + 1) % lines]} * kLine;
    return chain;
}

struct Latency {
    double clocks;
    double ns;
};

Latency median(std::vector<Latency> all) {
    std::sort(all.begin(), all.end(), [](const Latency& a, const Latency& b) {
        return a.clocks < b.clocks;
    });
    return all[all.size() / 2];
}

/// The median of seven runs of `launch`, which writes a result of `steps` loads.
template <typename Launch>
Latency measure(int steps, Launch launch) {
    uint64_t* result;
    CHECK(cudaMallocManaged(&result, 3 * sizeof(uint64_t)));
    std::vector<Latency> all;
    for (int run = 0; run < 7; ++run) {
        launch(result);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        all.push_back({static_cast<double>(result[0]) / steps,
                       static_cast<double>(result[1]) / steps});
    }
    CHECK(cudaFree(result));
    return median(all);
}

/// GB/s of the median of eleven runs that move `bytes`.
template <typename Launch>
double rate(double bytes, Launch launch) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> all;
    for (int run = 0; run < 12; ++run) {
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (run > 0) all.push_back(ms);
    }
    std::sort(all.begin(), all.end());
    return bytes / all[all.size() / 2] / 1e6;
}

void print_row(
    const char* level, size_t bytes, Latency latency, double gbps, bool is_last) {
    std::printf("  {\"level\": \"%s\", \"footprint_bytes\": %zu, ", level, bytes);
    std::printf(
        "\"latency_clocks\": %.1f, \"latency_ns\": %.1f", latency.clocks, latency.ns);
    if (gbps > 0) std::printf(", \"gbps\": %.1f", gbps);
    std::printf("}%s\n", is_last ? "" : ",");
}

}  // namespace

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    int runtime = 0;
    CHECK(cudaRuntimeGetVersion(&runtime));
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));

    const size_t l1_bytes = 16 * 1024, l2_bytes = 4 * kMiB;
    const size_t dram_bytes = 512 * kMiB, host_bytes = 64 * kMiB;
    uint64_t *d_chain, *h_chain, *h_mapped;
    uint32_t* sink;
    char* d_flush;
    CHECK(cudaMalloc(&d_chain, dram_bytes));
    CHECK(cudaMalloc(&d_flush, dram_bytes));
    CHECK(cudaMalloc(&sink, sizeof(uint32_t)));
    CHECK(cudaHostAlloc(
        reinterpret_cast<void**>(&h_chain), host_bytes, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&h_mapped), h_chain, 0));
    const auto put = [&](size_t bytes) {
        const std::vector<uint64_t> chain = chain_of(d_chain, bytes);
        CHECK(cudaMemcpy(d_chain, chain.data(), bytes, cudaMemcpyHostToDevice));
    };
    const auto chase = [&](auto kernel, const uint64_t* chain, int warm, int steps) {
        return measure(steps, [&](uint64_t* result) {
            if (warm == 0) CHECK(cudaMemset(d_flush, 1, dram_bytes));
            kernel<<<1, 1>>>(reinterpret_cast<uint64_t>(chain), warm, steps, result);
        });
    };

    const Latency shared =
        measure(32768, [](uint64_t* result) { chase_shared<<<1, 1>>>(32768, result); });
    put(l1_bytes);
    const Latency l1 = chase(chase_global<true>, d_chain, 1024, 32768);
    put(l2_bytes);
    const Latency l2 = chase(chase_global<false>, d_chain, l2_bytes / kLine, 32768);
    put(dram_bytes);
    const Latency dram = chase(chase_global<false>, d_chain, 0, 32768);
    const std::vector<uint64_t> host = chain_of(h_mapped, host_bytes);
    std::copy(host.begin(), host.end(), h_chain);
    const Latency pcie = chase(chase_global<false>, h_mapped, 0, 4096);

    const int blocks = 2 * device.multiProcessorCount;
    const auto all_read = [&](auto kernel, size_t bytes, int times) {
        return rate(double(blocks) * kThreads * times * sizeof(uint4), [&] {
            kernel<<<blocks, kThreads>>>(
                reinterpret_cast<uint4*>(d_chain), bytes, times, sink);
        });
    };
    const double shared_gbps = all_read(read_all<Level::kShared>, l1_bytes, 8192);
    const double l1_gbps = all_read(read_all<Level::kL1>, l1_bytes, 8192);
    const double l2_gbps = all_read(read_all<Level::kL2>, 16 * kMiB, 1024);
    const double pcie_gbps = rate(double(host_bytes), [&] {
        CHECK(cudaMemcpyAsync(d_chain, h_chain, host_bytes, cudaMemcpyHostToDevice));
    });

    std::printf(
        "{\n \"what\": \"latency of one load that waits for the one before, and "
        "bytes a second into all multiprocessors, from each memory\",\n"
        " \"program\": \"tools/probes/memory_levels.cu\",\n"
        " \"machine\": {\"gpu\": \"%s\", \"cuda\": \"%d.%d\"},\n"
        " \"date\": \"%s\",\n \"rows\": [\n",
        device.name,
        runtime / 1000,
        runtime % 1000 / 10,
        date);
    print_row("shared", kSharedNodes * sizeof(uint32_t), shared, shared_gbps, false);
    print_row("L1", l1_bytes, l1, l1_gbps, false);
    print_row("L2", l2_bytes, l2, l2_gbps, false);
    print_row("DRAM", dram_bytes, dram, 0, false);
    print_row("host", host_bytes, pcie, pcie_gbps, true);
    std::printf(" ]\n}\n");
    return 0;
}
