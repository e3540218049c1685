// 04_lookups.cuh: v4: the angles need the position alone, and need not wait for the
// page.

// #region v4-kernel
/// rope_append_v4: v3 with its look-ups in another order. Sequence and position are
/// asked for first, then the numbers; when the position is there, angles and page are
/// asked for, one right after the other. So two loads wait for each other, where v3 has
/// three: what is written to depends on the page, and not on the angles.
///
/// @param call    as in rope_and_kv_append.h, which has its shapes, errors and formula
/// @param status  tokens without a place are reported there
/// @tparam kWidth  pairs of a thread: 8, or 1 where rotary_dim is no multiple of 16
///
/// Launch   grid ceil_div(tokens * ceil_div(heads(), kHeads) * head_dim / 2 / kWidth,
///          kBlock), block kBlock
/// Traffic  reads 8 B of angles for each pair of four heads, and of a query only what
///          turns: rotary_dim of head_dim numbers
template <int kWidth, class T, class Stored>
__global__ void __launch_bounds__(kBlock)
    rope_append_v4_kernel(const RopeAppend<T, Stored> call, wb::PagedStatus* status) {
    const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
    const int items = static_cast<int>(call.cache.head_dim) / (2 * kWidth);
    const int heads = static_cast<int>(call.heads());
    const int groups = (heads + kHeads - 1) / kHeads;
    if (i >= call.tokens * groups * items) return;
    const int64_t token = i / (groups * items);
    const int32_t sequence = call.sequences[token];
    const int32_t position = call.positions[token];
    const int item = static_cast<int>(i % (groups * items));
    const int group = item / items;
    const int pair = item % items * kWidth;
    const Places at = places_of<kWidth>(call, pair);
    Loaded<T, kWidth> loaded[kHeads];
#pragma unroll
    for (int k = 0; k < kHeads; ++k) {
        const int head = group + k * groups;
        if (head < heads && (at.rotates || !is_query(call, head)))
            loaded[k].load(head_of(call, token, head), at);
    }
    // A position that is none has no angles either: this comes before they are loaded.
    if (!wb::checked_place(call.cache, sequence, position, token, status)) return;
    float2 angles[kWidth] = {};
    const int64_t row = int64_t{position} * (call.rotary_dim / 2);
    if (at.rotates) load_angles(angles, call.angles + row + pair);
    const int64_t index = position / call.cache.page_size;
    const Slot slot = {wb::checked_page(call.cache, sequence, index, status),
                       position % call.cache.page_size,
                       position};
    if (slot.page < 0) return;
#pragma unroll
    for (int k = 0; k < kHeads; ++k) {
        const int head = group + k * groups;
        if (head >= heads) return;
        const bool turns = at.rotates && !is_value(call, head);
        if (is_query(call, head) && !turns) continue;
        const bool side_by_side = turns && call.pairs == RopePairs::neighbours;
        Pairs<kWidth> x(loaded[k], side_by_side);
        if (turns) {
#pragma unroll
            for (int j = 0; j < kWidth; ++j) {
                const float2 turned = rotate(x.a[j], x.b[j], angles[j]);
                x.a[j] = turned.x;
                x.b[j] = turned.y;
            }
        }
        if (is_query(call, head)) {
            T* const to = call.q + token * call.q_stride + head * call.cache.head_dim;
            x.store(to, at, side_by_side, 1.0f);
        } else {
            const Target<Stored> target = target_of(call, slot, head);
            x.store(target.row, at, side_by_side, target.factor);
        }
    }
}
// #endregion v4-kernel

template <class T, class Stored>
static void rope_append_v4(const RopeAppend<T, Stored>& call,
                           const wb::PagedWorkspace& workspace,
                           cudaStream_t stream) {
    const int64_t groups = wb::ceil_div(call.heads(), int64_t{kHeads});
    const int64_t pairs = call.tokens * groups * (call.cache.head_dim / 2);
    if (has_vectors(call)) {
        const unsigned blocks = wb::grid_size(pairs / 8, kBlock);
        rope_append_v4_kernel<8>
            <<<blocks, kBlock, 0, stream>>>(call, workspace.status());
    } else {
        const unsigned blocks = wb::grid_size(pairs, kBlock);
        rope_append_v4_kernel<1>
            <<<blocks, kBlock, 0, stream>>>(call, workspace.status());
    }
    CUDA_CHECK_LAUNCH();
}
