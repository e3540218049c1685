// Attention with a tile of K and V in shared memory, one warp for each row of Q: it has
// three points of synchronisation, and each in turn is left out.
#include "planted.h"

#include <cmath>

using planted::numbered;
using planted::zeros;

constexpr int kDim = 32;
constexpr int kTile = 16;
constexpr int kWarps = 4;

enum Missing { nothing, after_load, after_scores, after_use };

// missing_barrier_after_load: the tile is read before all of it is there.
// missing_syncwarp_after_scores: lanes read the scores of others.
// missing_barrier_after_use: the next tile overwrites one in use.
template <Missing kMissing>
__global__ void flash(
    const float* q, const float* k, const float* v, float* out, int n) {
    __shared__ float keys[kTile][kDim + 1];
    __shared__ float values[kTile][kDim];
    __shared__ float scores[kWarps][kTile];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.x * kWarps + warp;
    float best = -INFINITY, norm = 0, sum = 0;
    for (int begin = 0; begin < n; begin += kTile) {
        for (int i = threadIdx.x; i < kTile * kDim; i += blockDim.x) {
            keys[i / kDim][i % kDim] = k[begin * kDim + i];    // flash_*
            values[i / kDim][i % kDim] = v[begin * kDim + i];  // flash_*
        }
        if (kMissing != after_load) __syncthreads();
        if (lane < kTile) {
            float dot = 0;
            for (int d = 0; d < kDim; ++d)
                dot += q[row * kDim + d] * keys[lane][d];  // flash_*
            scores[warp][lane] = dot;                      // flash_*
        }
        if (kMissing != after_scores) __syncwarp();
        float top = best;
        for (int j = 0; j < kTile; ++j)
            top = fmaxf(top, scores[warp][j]);  // flash_*
        const float correction = expf(best - top);
        norm *= correction;
        sum *= correction;
        for (int j = 0; j < kTile; ++j) {
            const float p = expf(scores[warp][j] - top);
            norm += p;
            sum += p * values[j][lane];  // flash_*
        }
        best = top;
        if (kMissing != after_use) __syncthreads();
    }
    out[row * kDim + lane] = sum / norm;
}

template <Missing kMissing>
void run_flash() {
    constexpr int kRows = 32;
    const float* x = numbered<float>(kRows * kDim);
    flash<kMissing>
        <<<kRows / kWarps, kWarps * 32>>>(x, x, x, zeros<float>(kRows * kDim), kRows);
}

PLANTED(none, flash_with_all_three) {
    run_flash<nothing>();
}
PLANTED(race, flash_without_barrier_after_load) {
    run_flash<after_load>();
}
PLANTED(race, flash_without_syncwarp_after_scores) {
    run_flash<after_scores>();
}
PLANTED(race, flash_without_barrier_after_use) {
    run_flash<after_use>();
}
