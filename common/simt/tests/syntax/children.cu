// Launches that kernels make.
#include "check.h"

/// Appends `mark` to the list in `log`, whose first element counts.
__device__ void note(int* log, int mark) {
    log[1 + log[0]] = mark;
    ++log[0];
}

__global__ void leaf(int* log, int mark) {
    note(log, mark);
}

__global__ void middle(int* log, int mark) {
    note(log, mark);
    leaf<<<1, 1>>>(log, mark + 1);
}

__global__ void parent(int* log) {
    leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 8);
    middle<<<1, 1>>>(log, 1);
    leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 9);
    leaf<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 4);
    note(log, 0);
}

int main() {
    DeviceArray<int> log(16);
    cudaMemset(log, 0, 16 * sizeof(int));
    parent<<<1, 1>>>(log);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    // One after the other here, with their own children; tail launches when all others have ended.
    const int expected[] = {6, 0, 1, 2, 4, 8, 9};
    for (int i = 0; i < 7; ++i)
        EXPECT(log.at(i), expected[i]);
    // Of the host these are no streams.
    leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 1);
    EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    return failures != 0;
}
