/// rope_and_kv_append.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/paged_cache.h>

#include <cstdint>

/// angles[p, j] = magnitude * (cos(p * frequencies[j]), sin(p * frequencies[j]))
///
/// for every position p < rows and every pair j < pairs. A model does it once, when it
/// is loaded.
///
/// @param frequencies  [pairs] device memory, finite and >= 0; see frequencies.h
/// @param pairs        half of the rotary dimensions, >= 0
/// @param magnitude    finite
/// @param rows         positions, 0 to 2^31 - 1
/// @param angles       [rows, pairs] device memory, overwritten
/// @param stream       where the work is queued; the function returns without waiting
///
/// If rows or pairs is 0 there is nothing to do, and nothing is launched.
///
/// Traffic  writes rows * pairs * 8 B
/// Error    2^-24 of the number, and magnitude * (2^-50 + 2^-52 p * frequency): sine
///          and cosine of a double, rounded once to float
/// Throws   wb::InvalidArgument for negative sizes, rows past 2^31 - 1, a magnitude
///          that is not finite, a null, host or misaligned pointer
void rope_angles(const double* frequencies,
                 int64_t pairs,
                 double magnitude,
                 int64_t rows,
                 float2* angles,
                 cudaStream_t stream);

/// Which two of the first R numbers of a head turn together: pair j of R / 2.
enum class RopePairs : int32_t {
    halves = 0,      ///< j and j + R / 2: GPT-NeoX, Llama
    neighbours = 1,  ///< 2 j and 2 j + 1: RoFormer, GPT-J
};

// #region call
/// New tokens of many sequences, and the cache that they go into. T is what the model
/// computes in, Stored what the cache keeps.
template <class T, class Stored>
struct RopeAppend {
    T* q;              ///< [tokens, query_heads, head_dim], rotated in place
    const T* k;        ///< [tokens, kv_heads, head_dim]
    const T* v;        ///< [tokens, kv_heads, head_dim]
    int64_t q_stride;  ///< elements from a token to the next one: q, k and v are often
    int64_t k_stride;  ///< slices of one matrix, [tokens, (Hq + 2 Hkv) D]. Each is a
    int64_t v_stride;  ///< multiple of 8, and heads * head_dim or more
    const int32_t* sequences;  ///< [tokens] each in [0, cache.batch)
    const int32_t* positions;  ///< [tokens] each in [0, cache.capacity())
    const float2* angles;      ///< [angle_rows, rotary_dim / 2] of rope_angles()
    int64_t angle_rows;        ///< cache.capacity() or more, unless rotary_dim is 0
    int64_t tokens;            ///< 0 to 2^31 - 1
    int64_t query_heads;       ///< Hq, 0 to 65536
    int64_t rotary_dim;        ///< R: even, 0 to head_dim
    RopePairs pairs;
    wb::PagedCacheOf<Stored> cache;  ///< head_dim: a multiple of 16 up to 256
    const float* k_scale;  ///< [kv_heads] for a cache of FP8; else null. Each is 0, or
    const float* v_scale;  ///< farther from 0 than 2^-128: 1 / scale is a float

    __host__ __device__ int64_t kv_heads() const { return cache.kv_heads; }
    /// Of a token: of q, of k and of v.
    __host__ __device__ int64_t heads() const { return query_heads + 2 * kv_heads(); }
};
// #endregion call

/// Rotates q and k by the position of each token, and appends k and v to the cache:
///
///     for each token i, with s = sequences[i], p = positions[i], and each pair of
///     numbers a, b of a head of q or k, with (c, s) = angles[p, j]:
///     (a, b) becomes (a * c - b * s, b * c + a * s)
///     q[i, h, :]                                = rotated q[i, h, :]
///     cache.k[page, h, p % page_size, :]        = rotated k[i, h, :] / k_scale[h]
///     cache.v[page, h, p % page_size, :]        = v[i, h, :] / v_scale[h]
///     where page = cache.block_table[s, p / page_size]
///
/// Numbers of a head from rotary_dim on stay as they are. Without scales nothing is
/// divided. No two tokens have the same place.
///
/// @param call       all arrays in device memory; q, k, v, angles and the cache begin
///                   at multiples of 16 bytes. q shares no byte with what is read, and
///                   the cache none with anything; q, k and v may be slices of the
///                   columns of one matrix. cache.lengths plays no part
/// @param workspace  one for each stream
/// @param stream     where the work is queued; the function returns without waiting
///
/// A token whose sequence, position or page does not exist is not written, and its q
/// stays as it is; workspace.check() then throws wb::PagedCacheError. All others are
/// done. Without tokens nothing is launched.
///
/// Traffic  R of the D numbers of a query, and all of k and v: reads (Hq R + 2 Hkv D)
///          * sizeof(T) B a token, and R * 4 B of angles for each position; writes
///          Hq R * sizeof(T) + 2 Hkv D * sizeof(Stored) B a token
/// Error    gamma(4) of 2^-24 times (|a c| + |b s|), with scales 2^-22 of the quotient
///          (a product with 1 / scale will do), and one rounding to what is stored, to
///          the nearest. FP8 ends at 448: what is larger becomes 448
/// NaN      and infinities go to both numbers of their pair, as in any sum, and to no
///          other; in FP8 an infinity becomes 448. A NaN may become another NaN; what
///          does not turn, and is 0, keeps its sign
/// Throws   wb::InvalidArgument for sizes and strides that are not as above, what
///          wb::check_pages() refuses, scales where there are none to be or the other
///          way round, a null, host or misaligned pointer, and arrays that overlap
void rope_append_fp16(const RopeAppend<__half, __half>& call,
                      const wb::PagedWorkspace& workspace,
                      cudaStream_t stream);
void rope_append_bf16(const RopeAppend<__nv_bfloat16, __nv_bfloat16>& call,
                      const wb::PagedWorkspace& workspace,
                      cudaStream_t stream);
void rope_append_fp8(const RopeAppend<__nv_bfloat16, __nv_fp8_e4m3>& call,
                     const wb::PagedWorkspace& workspace,
                     cudaStream_t stream);
