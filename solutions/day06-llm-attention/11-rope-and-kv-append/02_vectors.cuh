// 02_vectors.cuh: v2: eight pairs a thread, 16 bytes an access.

// #region v2-kernel
/// rope_append_v2: a thread for kWidth pairs of a head.
///
/// Launch   grid ceil_div(tokens * heads() * head_dim / 2 / kWidth, kThreads)
/// Traffic  reads 8 B of angles for each pair
template <int kWidth, class T, class Stored>
__global__ void __launch_bounds__(kThreads)
    rope_append_v2_kernel(const RopeAppend<T, Stored> call, wb::PagedStatus* status) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t items = call.cache.head_dim / (2 * kWidth);  // of a head
    if (i >= call.tokens * call.heads() * items) return;
    const int64_t token = i / items / call.heads();
    const int head = static_cast<int>(i / items % call.heads());
    const int pair = static_cast<int>(i % items) * kWidth;
    const Slot slot = slot_of(call, token, status);
    if (slot.page < 0) return;
    const Places at = places_of<kWidth>(call, pair);
    const bool turns = at.rotates && !is_value(call, head);
    if (is_query(call, head) && !turns) return;
    const bool side_by_side = turns && call.pairs == RopePairs::neighbours;
    const T* const from = head_of(call, token, head);
    Loaded<T, kWidth> loaded;
    loaded.load(from, at);
    Pairs<kWidth> x(loaded, side_by_side);
    if (turns) {
        const int64_t row = slot.position * (call.rotary_dim / 2);
        const float2* const angles = call.angles + row + pair;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
            const float2 turned = rotate(x.a[k], x.b[k], angles[k]);
            x.a[k] = turned.x;
            x.b[k] = turned.y;
        }
    }
    if (is_query(call, head)) {
        x.store(call.q + (from - call.q), at, side_by_side, 1.0f);
    } else {
        const Target<Stored> target = target_of(call, slot, head);
        x.store(target.row, at, side_by_side, target.factor);
    }
}
// #endregion v2-kernel

template <class T, class Stored>
static void rope_append_v2(const RopeAppend<T, Stored>& call,
                           const wb::PagedWorkspace& workspace,
                           cudaStream_t stream) {
    const int64_t pairs = call.tokens * call.heads() * (call.cache.head_dim / 2);
    if (has_vectors(call)) {
        const unsigned blocks = wb::grid_size(pairs / 8, kThreads);
        rope_append_v2_kernel<8>
            <<<blocks, kThreads, 0, stream>>>(call, workspace.status());
    } else {
        const unsigned blocks = wb::grid_size(pairs, kThreads);
        rope_append_v2_kernel<1>
            <<<blocks, kThreads, 0, stream>>>(call, workspace.status());
    }
    CUDA_CHECK_LAUNCH();
}
