/// gradients.cuh: given with "Go faster": version 2 of two backward passes, for the
/// middle of losses_fast.cu, whose load_part() and BlockOfQueries they use. There is
/// nothing to write here.
#pragma once

// #region bce-gradient
/// bce_with_logits_backward_v2: a thread has two packs.
///
/// Launch   grid ceil_div(n, kThreads * kPacksAtOnce * V), block kThreads
template <int V>
__global__ void __launch_bounds__(kThreads)
    bce_with_logits_backward_v2_kernel(BceInput in,
                                       const float* grad_loss,  // [1]
                                       float* dlogits) {        // [n]
    const int64_t tile = int64_t{blockIdx.x} * (kThreads * kPacksAtOnce * V);
    Pack<float, V> r_x[kPacksAtOnce];
    Pack<float, V> r_t[kPacksAtOnce];
    Pack<float, V> r_w[kPacksAtOnce];
#pragma unroll
    for (int k = 0; k < kPacksAtOnce; ++k) {
        const int64_t i = tile + (k * kThreads + threadIdx.x) * V;
        r_x[k] = load_part<V>(in.logits, i, in.n, 0.0f);
        r_t[k] = load_part<V>(in.targets, i, in.n, 0.0f);
        r_w[k] = in.weights == nullptr ? Pack<float, V>::filled(1.0f)
                                       : load_part<V>(in.weights, i, in.n, 0.0f);
    }
    const float scale = *grad_loss / static_cast<float>(in.n);
#pragma unroll
    for (int k = 0; k < kPacksAtOnce; ++k) {
        const int64_t i = tile + (k * kThreads + threadIdx.x) * V;
#pragma unroll
        for (int j = 0; j < V; ++j) {
            const float x = r_x[k].value[j];
            const float t = r_t[k].value[j];
            const float e = expf(-fabsf(x));
            const float large = __fdividef(1.0f, 1.0f + e);  // sigmoid(|x|)
            const float small = e * large;
            const float no = (1.0f - t) * (x < 0.0f ? small : large);
            const float yes = t * in.pos_weight * (x < 0.0f ? large : small);
            r_x[k].value[j] = scale * r_w[k].value[j] * (no - yes);
        }
        if (i + V <= in.n) {
            r_x[k].store(dlogits + i);
            continue;
        }
#pragma unroll
        for (int j = 0; j < V; ++j)
            if (i + j < in.n) dlogits[i + j] = r_x[k].value[j];
    }
}

static void bce_with_logits_backward_v2(const BceInput& in,
                                        const float* grad_loss,
                                        float* dlogits,
                                        cudaStream_t stream) {
    with_width(are_aligned(in.logits, in.targets, in.weights, dlogits), [&](auto v) {
        constexpr int V = decltype(v)::value;
        const unsigned blocks = count_blocks(in.n, kThreads * kPacksAtOnce * V);
        bce_with_logits_backward_v2_kernel<V>
            <<<blocks, kThreads, 0, stream>>>(in, grad_loss, dlogits);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion bce-gradient

// #region sampled-gradient
/// sampled_softmax_backward_v2: the same, with a store of each pack.
///
/// Launch   grid ceil_div(queries, kQueries), block kThreads
/// Traffic  reads each logit once, writes its gradient once
template <int V>
__global__ void __launch_bounds__(kThreads)
    sampled_softmax_backward_v2_kernel(SampledInput in,
                                       Count count,
                                       const float* losses,     // [queries]
                                       const float* grad_loss,  // [1]
                                       float* dpositive,        // [queries]
                                       float* dnegative) {      // [queries, negatives]
    const int64_t num_real = count.value();
    const BlockOfQueries queries(in, num_real, blockIdx.x);
    const float scale = *grad_loss / static_cast<float>(num_real);
    float r_all[kQueries];  // log of the sum of all exp()
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
        const int64_t row = queries.first + q;
        if (row >= in.queries) break;
        const float loss = q < queries.real ? losses[row] : 0.0f;
        if (q < queries.real) r_all[q] = queries.r_own[q] + loss;
        if (threadIdx.x == 0)
            dpositive[row] = q < queries.real ? scale * expm1f(-loss) : 0.0f;
    }
    for (int64_t col = threadIdx.x * V; col < in.negatives; col += kThreads * V) {
        Pack<float, V> r_x[kQueries];
        queries.load<V>(in, col, r_x);
#pragma unroll
        for (int q = 0; q < kQueries; ++q) {
            if (queries.first + q >= in.queries) break;
            auto r_d = Pack<float, V>::filled(0.0f);
            if (q < queries.real)
#pragma unroll
                for (int i = 0; i < V; ++i)
                    r_d.value[i] = scale * expf(r_x[q].value[i] - r_all[q]);
            r_d.store(dnegative + (queries.first + q) * in.negatives + col);
        }
    }
}
static void sampled_softmax_backward_v2(const SampledInput& in,
                                        const float* losses,
                                        const float* grad_loss,
                                        float* dpositive,
                                        float* dnegative,
                                        cudaStream_t stream) {
    with_width(has_packs(in, dnegative), [&](auto v) {
        sampled_softmax_backward_v2_kernel<decltype(v)::value>
            <<<count_blocks(in.queries, kQueries), kThreads, 0, stream>>>(
                in, Count::real(in), losses, grad_loss, dpositive, dnegative);
    });
    CUDA_CHECK_LAUNCH();
}
// #endregion sampled-gradient
