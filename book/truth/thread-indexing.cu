// What each thread of some launches computes as its index, for the figure "thread
// indexing": one line a launch, in which the threads of all blocks follow one another.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "json.h"

namespace {

constexpr int kWarpSize = 32;

/// What a thread says of itself.
struct Report {
    int first;       // index of the first element that it visits, -1: none
    int visits;      // how many elements it visits
    int thread;      // its number in its block
    int first_lane;  // the number of the thread that lane 0 of its warp is
};

struct Launch {
    const char* name;
    dim3 extent;  // of the array: x runs fastest
    dim3 block;
    dim3 grid;
    bool stride;  // a grid-stride loop along each axis, or one element a thread
};

const Launch kLaunches[] = {
    {"the lesson's picture", {10, 1, 1}, {4, 1, 1}, {3, 1, 1}, false},
    {"the lesson's numbers", {1000, 1, 1}, {256, 1, 1}, {4, 1, 1}, false},
    {"no tail", {64, 1, 1}, {32, 1, 1}, {2, 1, 1}, false},
    {"a grid rounded down", {100, 1, 1}, {32, 1, 1}, {3, 1, 1}, false},
    {"a grid twice as large as needed", {33, 1, 1}, {16, 1, 1}, {6, 1, 1}, false},
    {"one element", {1, 1, 1}, {48, 1, 1}, {1, 1, 1}, false},
    {"a grid-stride loop", {20, 1, 1}, {4, 1, 1}, {2, 1, 1}, true},
    {"a grid-stride loop of a large grid", {20, 1, 1}, {8, 1, 1}, {4, 1, 1}, true},
    {"two dimensions", {10, 6, 1}, {4, 4, 1}, {3, 2, 1}, false},
    {"rows of a warp", {40, 5, 1}, {32, 2, 1}, {2, 3, 1}, false},
    {"two dimensions, a loop along both", {10, 6, 1}, {4, 2, 1}, {2, 1, 1}, true},
    {"three dimensions", {5, 3, 3}, {4, 2, 2}, {2, 2, 2}, false},
    {"planes in a loop", {4, 2, 6}, {4, 2, 1}, {1, 1, 4}, true},
};

/// Visits elements of [extent.z, extent.y, extent.x], counts the visits of each, and
/// reports.
///
/// @param visited  [extent.z, extent.y, extent.x] counters, 0
/// @param reports  [blocks of the grid, threads of a block]
__global__ void walk(dim3 extent, bool stride, int* visited, Report* reports) {
    const int size = blockDim.x * blockDim.y * blockDim.z;
    const int tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    // The lanes that the last warp of a block has: the shuffle fails with any others.
    const int lanes = min(kWarpSize, size - tid / kWarpSize * kWarpSize);
    const unsigned mask = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;

    Report report{-1, 0, tid, __shfl_sync(mask, tid, 0)};
    const auto visit = [&](unsigned x, unsigned y, unsigned z) {
        const int i = (z * extent.y + y) * extent.x + x;
        atomicAdd(&visited[i], 1);
        if (report.visits == 0) report.first = i;
        ++report.visits;
    };
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (stride) {
        for (unsigned k = z; k < extent.z; k += gridDim.z * blockDim.z)
            for (unsigned j = y; j < extent.y; j += gridDim.y * blockDim.y)
                for (unsigned i = x; i < extent.x; i += gridDim.x * blockDim.x)
                    visit(i, j, k);
    } else if (x < extent.x && y < extent.y && z < extent.z) {
        visit(x, y, z);
    }
    reports[block * size + tid] = report;
}

size_t count(dim3 d) {
    return size_t{d.x} * d.y * d.z;
}

void require(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

template <class T>
std::vector<T> download(T* from, size_t n) {
    std::vector<T> to(n);
    require(cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
    require(cudaFree(from));
    return to;
}

truth::Json& triple(truth::Json& json, const char* name, dim3 d) {
    return json.key(name).list(std::vector{d.x, d.y, d.z});
}

void run(const Launch& launch, truth::Json& json) {
    const size_t n = count(launch.extent);
    const size_t threads = count(launch.grid) * count(launch.block);
    int* g_visited;
    Report* g_reports;
    require(cudaMalloc(&g_visited, n * sizeof(int)));
    require(cudaMemset(g_visited, 0, n * sizeof(int)));
    require(cudaMalloc(&g_reports, threads * sizeof(Report)));
    walk<<<launch.grid, launch.block>>>(
        launch.extent, launch.stride, g_visited, g_reports);
    require(cudaDeviceSynchronize());
    const std::vector<int> visited = download(g_visited, n);
    const std::vector<Report> reports = download(g_reports, threads);

    std::vector<int> first, visits, thread, first_lane;
    for (const Report& r : reports) {
        first.push_back(r.first);
        visits.push_back(r.visits);
        thread.push_back(r.thread);
        first_lane.push_back(r.first_lane);
    }
    json.open('{').member("name", launch.name).member("stride", launch.stride);
    triple(json, "extent", launch.extent);
    triple(json, "block", launch.block);
    triple(json, "grid", launch.grid);
    json.key("visited").list(visited);
    json.key("first").list(first);
    json.key("visits").list(visits);
    json.key("thread").list(thread);
    json.key("first_lane").list(first_lane);
    json.close('}');
}

}  // namespace

int main() {
    truth::Json json;
    json.open('{').key("launches").open('[');
    for (const Launch& launch : kLaunches)
        run(launch, json);
    json.close(']').close('}').print();
}
