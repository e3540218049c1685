// 03_groups.cuh: v3 of the sampled softmax: with many queries a warp has four of its
// own, so that lanes merge what they know less often.
#pragma once

#include <wb/device.h>

// #region v3-sampled
/// What two warps know together.
__device__ __forceinline__ MaxSum together(const MaxSum& a, const MaxSum& b) {
    const float max = fmaxf(a.max, b.max);
    return {max,
            a.sum * wb::softmax_rescale(a.max, max) +
                b.sum * wb::softmax_rescale(b.max, max)};
}

/// sampled_softmax_v3: kTeam warps have four queries, each lane knows some logits of
/// each. With v2's block of eight warps and 1024 negatives a lane merges after every
/// four logits, and then waits for the other warps.
///
/// losses[r] = log(1 + sum over c of exp(s[r, c] - s[r])), as in losses.h
///
/// @tparam V      floats of a load, 1 or 4
/// @tparam kTeam  warps that share four queries: 1, or all of a block
///
/// Launch   grid ceil_div(queries, kQueries * kWarps / kTeam), block kThreads
/// Traffic  reads each logit once; ids and log_q once for four queries, most of them
///          from L1 or L2
/// Error    as v2: sums of a lane, of a warp, of kTeam warps, in float
template <int V, int kTeam>
__global__ void __launch_bounds__(kThreads)
    sampled_softmax_v3_kernel(SampledInput in,
                              Count count,
                              float* losses,      // [queries]
                              float* partials) {  // [gridDim.x]
    constexpr int kTeams = kWarps / kTeam;
    constexpr int kQueriesOfBlock = kQueries * kTeams;
    static_assert(kQueriesOfBlock <= wb::kWarpSize, "a lane merges a query");
    __shared__ MaxSum s_known[kQueriesOfBlock][kTeam];
    __shared__ float s_own[kQueriesOfBlock];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const int team = warp / kTeam;
    const int64_t num_real = count.value();
    const BlockOfQueries queries(in, num_real, int64_t{blockIdx.x} * kTeams + team);
    MaxSum r_known[kQueries];
    const int place = static_cast<int>(threadIdx.x) % (kTeam * wb::kWarpSize);
    for (int64_t col = place * V; col < in.negatives;
         col += kTeam * wb::kWarpSize * V) {
        Pack<float, V> r_x[kQueries];
        queries.load<V>(in, col, r_x);
#pragma unroll
        for (int q = 0; q < kQueries; ++q)
            if (q < queries.real) r_known[q].add(r_x[q]);
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
        const MaxSum known = r_known[q].of_warp();
        if (lane > 0) continue;
        s_known[team * kQueries + q][warp % kTeam] = known;
        if (warp % kTeam == 0 && q < queries.real)
            s_own[team * kQueries + q] = queries.r_own[q];
    }
    __syncthreads();
    if (warp > 0) return;
    float loss = 0.0f;
    const int64_t query = int64_t{blockIdx.x} * kQueriesOfBlock + lane;
    if (lane < kQueriesOfBlock && query < num_real) {
        MaxSum all = s_known[lane][0];
        for (int w = 1; w < kTeam; ++w)
            all = together(all, s_known[lane][w]);
        const float above = all.max - s_own[lane] + logf(all.sum);
        loss = fmaxf(above, 0.0f) + log_one_plus(expf(-fabsf(above)));
    }
    if (lane < kQueriesOfBlock && query < in.queries) losses[query] = loss;
    const float sum = warp_sum(loss);
    if (lane == 0) partials[blockIdx.x] = sum;
}
// #endregion v3-sampled

// #region v3-sampled-launch
/// Warps that the queries must give a multiprocessor before a warp has four of its own:
/// two rounds of them, for with one that is not full v2's blocks were faster.
constexpr int64_t kWarpsOfSm = 64;

template <int kTeam>
static void launch_sampled_v3(const SampledInput& in,
                              float* losses,
                              float* loss,
                              cudaStream_t stream) {
    const unsigned blocks = count_blocks(in.queries, kQueries * kWarps / kTeam);
    const wb::Scratch<float> partials(int64_t{blocks} + 1, stream);  // blocks may be 0
    if (blocks > 0)
        with_width(has_packs(in, nullptr), [&](auto v) {
            sampled_softmax_v3_kernel<decltype(v)::value, kTeam>
                <<<blocks, kThreads, 0, stream>>>(
                    in, Count::real(in), losses, partials.data());
        });
    CUDA_CHECK_LAUNCH();
    launch_mean(partials.data(), blocks, Count::real(in), loss, stream);
}

static void sampled_softmax_v3(const SampledInput& in,
                               float* losses,
                               float* loss,
                               cudaStream_t stream) {
    const int64_t groups = wb::ceil_div(in.queries, int64_t{kQueries});
    if (groups >= kWarpsOfSm * wb::multiprocessors())
        launch_sampled_v3<1>(in, losses, loss, stream);
    else
        launch_sampled_v3<kWarps>(in, losses, loss, stream);
}
// #endregion v3-sampled-launch
