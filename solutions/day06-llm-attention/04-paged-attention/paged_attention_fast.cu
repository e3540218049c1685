// paged_attention_fast.cu: v4: K and V are read once for a group of query heads, and
// blocks share a sequence.
#include "paged_attention.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <algorithm>

#include "checks.h"
#include "group.cuh"

/// Threads in a block of append_kv.
constexpr int kFastAppendThreads = 256;

// #region append-v2
/// append_kv_v2: 16 bytes a thread: an eighth of the threads of v1, and of its look-ups
/// in the tables.
///
/// Launch   grid ceil_div(tokens * kv_heads * head_dim / 8, kFastAppendThreads)
__global__ void append_kv_v2_kernel(const wb::PagedCache cache,
                                    const uint4* k,  // [tokens, kv_heads, head_dim / 8]
                                    const uint4* v,  // [tokens, kv_heads, head_dim / 8]
                                    const int32_t* sequences,  // [tokens]
                                    const int32_t* positions,  // [tokens]
                                    int64_t tokens,
                                    wb::PagedStatus* status) {
    const int64_t vectors = cache.head_dim / 8;  // of a row
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= tokens * cache.kv_heads * vectors) return;
    // TODO(learner): vector i of k and v is 8 numbers of one row. Find its token, K/V
    // head and page as in the first stage, with the same checks; then copy 16 bytes of
    // k and 16 of v into the row (about 11 lines)
    // #solution
    const int64_t head = i / vectors % cache.kv_heads;
    const int64_t token = i / vectors / cache.kv_heads;
    const int32_t sequence = sequences[token];
    const int32_t position = positions[token];
    if (!wb::checked_place(cache, sequence, position, token, status)) return;
    const int64_t index = position / cache.page_size;
    const int64_t page = wb::checked_page(cache, sequence, index, status);
    if (page < 0) return;
    const int64_t row = cache.row(page, head, position % cache.page_size);
    reinterpret_cast<uint4*>(cache.k + row)[i % vectors] = k[i];
    reinterpret_cast<uint4*>(cache.v + row)[i % vectors] = v[i];
    // #end
}
// #endregion append-v2

// #region append-v2-launch
static void append_kv_v2(const wb::PagedCache& cache,
                         const __nv_bfloat16* k,
                         const __nv_bfloat16* v,
                         const int32_t* sequences,
                         const int32_t* positions,
                         int64_t tokens,
                         const wb::PagedWorkspace& workspace,
                         cudaStream_t stream) {
    const int64_t vectors = tokens * cache.kv_heads * cache.head_dim / 8;
    const unsigned blocks = wb::grid_size(vectors, kFastAppendThreads);
    append_kv_v2_kernel<<<blocks, kFastAppendThreads, 0, stream>>>(
        cache,
        reinterpret_cast<const uint4*>(k),
        reinterpret_cast<const uint4*>(v),
        sequences,
        positions,
        tokens,
        workspace.status());
    CUDA_CHECK_LAUNCH();
}
// #endregion append-v2-launch

// #region v3-attend
/// One warp's share of the chunks [first, last) of a sequence, for up to H query heads.
/// D / 8 lanes hold a row, so that a warp reads 4 rows of 64 or 2 of 128 at once, and
/// each of these groups of lanes sums up its own rows.
///
/// @tparam H  query heads: their queries and sums are in registers
template <int D, int H>
__device__ void attend(BlockState<D, H>& s_state,
                       const wb::PagedCache& cache,
                       const __nv_bfloat16* q,  // [heads.count, D]
                       const Heads& heads,
                       float scale,
                       int64_t length,
                       int64_t first,
                       int64_t last,
                       wb::PagedStatus* status) {
    constexpr int kLanes = D / kNumbers;       // that hold a row
    constexpr int kRows = kWarpSize / kLanes;  // that a warp reads at once
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int column = lane % kLanes * kNumbers;
    float query[H][kNumbers] = {};
    for (int h = 0; h < H; ++h) {
        if (h < heads.count)
            unpack(query[h], *reinterpret_cast<const uint4*>(q + h * D + column));
    }
    wb::OnlineSoftmax<kNumbers> state[H];
    for (int64_t chunk = first + warp; chunk < last; chunk += kPartWarps) {
        const int64_t token = chunk * kChunk;
        const int64_t page =
            wb::checked_page(cache, heads.sequence, token / cache.page_size, status);
        if (page < 0) continue;
        const int64_t place =
            cache.row(page, heads.kv_head, token % cache.page_size) + column;
        for (int i = lane / kLanes; i < kChunk; i += kRows) {
            const bool valid = token + i < length;
            float key[kNumbers] = {};  // this lane's part of row i of the chunk
            float value[kNumbers] = {};
            if (valid) {
                unpack(key, *reinterpret_cast<const uint4*>(cache.k + place + i * D));
                unpack(value, *reinterpret_cast<const uint4*>(cache.v + place + i * D));
            }
            // TODO(learner): for each of the H heads, sum up query * key over the
            // kLanes lanes of the row: they all need the sum. Add scale * score and the
            // value to the head's state, if the row is valid. All lanes of the warp
            // must take part in a shuffle, those without a row, too (about 10 lines)
            // #solution
            for (int h = 0; h < H; ++h) {
                float score = 0.0f;
                for (int j = 0; j < kNumbers; ++j) {
                    score += query[h][j] * key[j];
                }
                for (int step = kLanes / 2; step > 0; step /= 2) {
                    score += __shfl_xor_sync(0xffffffffu, score, step);
                }
                if (valid) state[h].add(scale * score, value);
            }
            // #end
        }
    }
    // The groups of lanes become one.
    for (int h = 0; h < H; ++h) {
        for (int step = kLanes; step < kWarpSize; step *= 2) {
            float its_o[kNumbers];
            for (int j = 0; j < kNumbers; ++j) {
                its_o[j] = __shfl_xor_sync(0xffffffffu, state[h].o[j], step);
            }
            const float its_max = __shfl_xor_sync(0xffffffffu, state[h].max, step);
            const float its_sum = __shfl_xor_sync(0xffffffffu, state[h].sum, step);
            state[h].merge(its_max, its_sum, its_o);
        }
        if (lane >= kLanes) continue;
        if (lane == 0) {
            s_state.max[warp][h] = state[h].max;
            s_state.sum[warp][h] = state[h].sum;
        }
        for (int j = 0; j < kNumbers; ++j) {
            s_state.o[warp][h][column + j] = state[h].o[j];
        }
    }
    __syncthreads();
}
// #endregion v3-attend

// #region v4-parts
/// paged_attention_v4, first kernel: each block takes one of `splits` parts of a
/// sequence. A part without tokens, because the sequence is short, is (-inf, 0, 0).
///
/// Launch   grid batch * kv_heads * slices * splits, block kPartThreads
template <int D, int H>
__global__ void __launch_bounds__(kPartThreads)
    paged_attention_v4_parts_kernel(const wb::PagedCache cache,
                                    const __nv_bfloat16* q,  // [batch, Hq, D]
                                    float* part_o,           // [batch, Hq, splits, D]
                                    float2* part_max_sum,    // [batch, Hq, splits]
                                    int64_t query_heads,
                                    int splits,
                                    float scale,
                                    wb::PagedStatus* status) {
    __shared__ BlockState<D, H> s_state;
    const int split = static_cast<int>(blockIdx.x % splits);
    const Heads heads = heads_of<H>(cache, query_heads, blockIdx.x / splits);
    const int64_t length = wb::checked_length(cache, heads.sequence, status);
    int64_t first = 0;  // chunk of kChunk tokens
    int64_t last = 0;   // one past the last one
    // TODO(learner): the chunks of this split. All splits together have each chunk of
    // the sequence once, and their counts differ by one at most; the last chunk may
    // have fewer tokens (about 3 lines)
    // #solution
    const int64_t chunks = (length + kChunk - 1) / kChunk;
    first = chunks * split / splits;
    last = chunks * (split + 1) / splits;
    // #end
    attend(s_state,
           cache,
           q + heads.first_row * D,
           heads,
           scale,
           length,
           first,
           last,
           status);
    for (int i = threadIdx.x; i < heads.count * D; i += kPartThreads) {
        const auto state = merge_warps(s_state, i / D, i % D);
        const int64_t part = (heads.first_row + i / D) * splits + split;
        part_o[part * D + i % D] = state.o[0];  // not yet divided by the sum
        if (i % D == 0) part_max_sum[part] = {state.max, state.sum};
    }
}
// #endregion v4-parts

// #region v4-merge
/// paged_attention_v4, second kernel: a thread for each number of o.
///
/// Launch   grid batch * query_heads, block D
template <int D>
__global__ void paged_attention_v4_merge_kernel(
    const float* part_o,         // [batch, Hq, splits, D]
    const float2* part_max_sum,  // [batch, Hq, splits]
    int splits,
    __nv_bfloat16* o,  // [batch, Hq, D]
    float* lse) {      // [batch, Hq] or null
    const int64_t row = blockIdx.x;
    const int d = threadIdx.x;
    wb::OnlineSoftmax<1> state;
    // TODO(learner): merge all parts of this row into the state (about 5 lines)
    // #solution
    for (int64_t part = row * splits; part < (row + 1) * splits; ++part) {
        const float2 max_sum = part_max_sum[part];
        const float its_o[1] = {part_o[part * D + d]};
        state.merge(max_sum.x, max_sum.y, its_o);
    }
    // #end
    o[row * D + d] = __float2bfloat16(state.o[0] * state.scale());
    if (lse != nullptr && d == 0) lse[row] = state.log_sum_exp();
}
// #endregion v4-merge

// #region v4-launch
/// As many parts as give every multiprocessor four blocks, but none of fewer chunks
/// than a block has warps. The host knows how long a sequence may be, not how long it
/// is: that is in device memory.
inline int num_splits(const Call& call, int64_t blocks) {
    int device = 0;
    int multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(
        &multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int64_t wanted = wb::ceil_div(int64_t{4} * multiprocessors, blocks);
    const int64_t most =
        wb::ceil_div(call.cache.capacity(), int64_t{kPartWarps * kChunk});
    return static_cast<int>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(most, 1)));
}

template <int D, int H>
void launch_v4(const Call& call) {
    const int64_t rows = call.cache.batch * call.query_heads;
    const int splits = num_splits(call, call.blocks(H));
    const wb::Scratch<float> part_o(rows * splits * D, call.stream);
    const wb::Scratch<float2> part_max_sum(rows * splits, call.stream);
    paged_attention_v4_parts_kernel<D, H>
        <<<wb::grid_size(call.blocks(H) * splits, 1), kPartThreads, 0, call.stream>>>(
            call.cache,
            call.q,
            part_o.data(),
            part_max_sum.data(),
            call.query_heads,
            splits,
            call.scale,
            call.status);
    CUDA_CHECK_LAUNCH();
    paged_attention_v4_merge_kernel<D><<<wb::grid_size(rows, 1), D, 0, call.stream>>>(
        part_o.data(), part_max_sum.data(), splits, call.o, call.lse);
    CUDA_CHECK_LAUNCH();
}

static void paged_attention_v4(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    const Call call{cache, q, o, lse, query_heads, scale, workspace.status(), stream};
    for_heads(call, [&](auto dim, auto heads) {
        launch_v4<decltype(dim)::value, decltype(heads)::value>(call);
    });
}
// #endregion v4-launch

// #solution
#ifndef WB_VERSION_ONLY  // paged_attention.cu has all versions, and the contract
// #end
// #region contract
void append_kv(const wb::PagedCache& cache,
               const __nv_bfloat16* k,
               const __nv_bfloat16* v,
               const int32_t* sequences,
               const int32_t* positions,
               int64_t tokens,
               const wb::PagedWorkspace& workspace,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (!append_has_work(cache, k, v, sequences, positions, tokens)) return;
    append_kv_v2(cache, k, v, sequences, positions, tokens, workspace, stream);
}

void paged_attention(const wb::PagedCache& cache,
                     const __nv_bfloat16* q,
                     __nv_bfloat16* o,
                     float* lse,
                     int64_t query_heads,
                     float scale,
                     const wb::PagedWorkspace& workspace,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the other three are
    if (!attention_has_work(cache, q, o, lse, query_heads, scale, workspace)) return;
    paged_attention_v4(cache, q, o, lse, query_heads, scale, workspace, stream);
}
// #endregion contract
// #solution
#endif
// #end
