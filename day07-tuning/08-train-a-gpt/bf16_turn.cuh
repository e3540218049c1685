// bf16_turn.cuh: given with this exercise: transposes what the gradient of a matrix
// needs turned, and adds up its columns, for the gradient of a bias. What is turned is
// computed on the way. There is nothing to write here.
#pragma once

#include "bf16_gelu.cuh"
#include "bf16_heads.cuh"

/// Rows and columns of a tile.
inline constexpr int kTurn = 64;

// #region tile
/// Where a matrix of rows x columns goes, both multiples of 8.
struct Turned {
    uint32_t rows, columns;
    Bf16* to;  ///< [columns, rows]
    /// [ceil_div(rows, kTurn), columns], rows `stride` floats apart: the sums of each
    /// tile's columns; or null: not wanted.
    float* sums;
    float* also;  ///< the same sums once more, or null
    uint32_t stride;
};

/// A tile of a matrix on its way. Rows have 66 numbers, 33 words: what a warp writes or
/// reads at once lies in different banks, but for two and two words read.
struct TurnedTile {
    static constexpr uint32_t kWords = kTurn / 2 + 1;  // of a row
    static constexpr uint32_t kItems = kTurn / 2 * kTurn / 8;
    uint32_t words[kTurn * kWords];

    /// Numbers 8 * vector to 8 * vector + 7 of a row.
    __device__ __forceinline__ void put(uint32_t row,
                                        uint32_t vector,
                                        const Eight& numbers) {
        uint32_t* const s_words = words + row * kWords + vector * 4;
        s_words[0] = numbers.words.x;
        s_words[1] = numbers.words.y;
        s_words[2] = numbers.words.z;
        s_words[3] = numbers.words.w;
    }

    /// One of kItems items: eight rows of two columns, which leave as 16 bytes each. By
    /// a whole warp, with neighbouring items: eight of them have all rows of two
    /// columns, and add them up, in the same order always.
    __device__ __forceinline__ void store(uint32_t item,
                                          uint32_t first_row,
                                          uint32_t first_col,
                                          const Turned& out) const {
        const uint32_t octet = item % 8;
        const uint32_t pair = item / 8;
        const uint32_t row = first_row + octet * 8;
        const uint32_t col = first_col + pair * 2;
        uint32_t r_left[4];
        uint32_t r_right[4];
        float left = 0.0f;
        float right = 0.0f;
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            const uint32_t upper = words[(octet * 8 + 2 * k) * kWords + pair];
            const uint32_t lower = words[(octet * 8 + 2 * k + 1) * kWords + pair];
            r_left[k] = __byte_perm(upper, lower, 0x5410);
            r_right[k] = __byte_perm(upper, lower, 0x7632);
            left += __uint_as_float(upper << 16) + __uint_as_float(lower << 16);
            right += __uint_as_float(upper & 0xFFFF0000u) +
                     __uint_as_float(lower & 0xFFFF0000u);
        }
        if (row < out.rows && col < out.columns) {
            Bf16* const to = out.to + col * out.rows + row;
            Eight{make_uint4(r_left[0], r_left[1], r_left[2], r_left[3])}.store(to);
            Eight{make_uint4(r_right[0], r_right[1], r_right[2], r_right[3])}.store(
                to + out.rows);
        }
        if (out.sums == nullptr) return;  // the whole block
        for (int step = 1; step < 8; step *= 2) {
            left += __shfl_xor_sync(wb::kAllLanes, left, step);
            right += __shfl_xor_sync(wb::kAllLanes, right, step);
        }
        if (octet != 0 || col >= out.columns) return;
        const size_t place = size_t{first_row / kTurn} * out.stride + col;
        *reinterpret_cast<float2*>(out.sums + place) = make_float2(left, right);
        if (out.also != nullptr)
            *reinterpret_cast<float2*>(out.also + place) = make_float2(left, right);
    }
};
// #endregion tile

// #region sources
/// What is turned lies there.
struct Stored {
    const Bf16* from;  ///< [rows, columns]

    __device__ __forceinline__ Eight at(uint32_t row,
                                        uint32_t col,
                                        uint32_t columns) const {
        return Eight::load(from + row * columns + col);
    }
};

/// The gradient of what a GELU has given becomes that of its z, in its place.
struct ThroughGelu {
    Bf16* d;        ///< [rows, columns]
    const Bf16* z;  ///< [rows, columns]

    __device__ __forceinline__ Eight at(uint32_t row,
                                        uint32_t col,
                                        uint32_t columns) const {
        const uint32_t place = row * columns + col;
        float r_d[8];
        float r_z[8];
        Eight::load(d + place).unpack(r_d);
        Eight::load(z + place).unpack(r_z);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const GeluParts g(r_z[k]);
            r_d[k] *= g.yes + 2.0f * r_z[k] * g.yes * g.no * g.slope;
        }
        const Eight result = Eight::pack(r_d);
        result.store(d + place);
        return result;
    }
};

/// The gradient of qkv, from those of q, k and v: what was turned by the angles of its
/// position is turned back. It is stored by tokens, too.
struct FromHeads {
    Bf16Heads h;
    const Bf16* d_q;  ///< [batch, heads, length, D]
    const Bf16* d_k;
    const Bf16* d_v;
    const float2* angles;  ///< [length, rotary / 2]
    Bf16* d_qkv;           ///< [tokens, 3 width]

    __device__ __forceinline__ Eight at(uint32_t token,
                                        uint32_t col,
                                        uint32_t columns) const {
        const uint32_t part = col / h.width();
        const uint32_t of_part = col - part * h.width();
        const uint32_t head = of_part / h.head_dim;
        const uint32_t d = of_part - head * h.head_dim;
        const uint32_t b = token / h.length;
        const uint32_t position = token - b * h.length;
        const Bf16* const from = part == 0 ? d_q : part == 1 ? d_k : d_v;
        const Bf16* const row =
            from + ((b * h.heads + head) * h.length + position) * h.D;
        const Eight result = turned(row,
                                    d,
                                    part == 2 ? 0 : h.rotary,
                                    angles + position * (h.rotary / 2),
                                    -1.0f);
        result.store(d_qkv + token * columns + col);
        return result;
    }
};
// #endregion sources

// #region transpose
/// out.to[c, t] = source[t, c], and the sums of a tile's columns: what the gradient of
/// a matrix needs, and what the gradient of its bias needs, in one pass.
///
/// Launch   grid (ceil_div(columns, kTurn), ceil_div(rows, kTurn)), block kBf16Threads
/// Traffic  writes 2 B an element, beside what the source reads and writes
template <class Source>
static __global__ void __launch_bounds__(kBf16Threads)
    turn_kernel(const Source source, const Turned out) {
    constexpr uint32_t kVectors = kTurn / 8;
    static_assert(TurnedTile::kItems == kBf16Threads, "an item a thread");
    __shared__ TurnedTile s_tile;
    const uint32_t tid = threadIdx.x;
    const uint32_t first_row = blockIdx.y * kTurn;
    const uint32_t first_col = blockIdx.x * kTurn;
#pragma unroll
    for (uint32_t i = tid; i < kTurn * kVectors; i += kBf16Threads) {
        const uint32_t row = first_row + i / kVectors;
        const uint32_t col = first_col + i % kVectors * 8;
        Eight numbers = {make_uint4(0, 0, 0, 0)};
        if (row < out.rows && col < out.columns)
            numbers = source.at(row, col, out.columns);
        s_tile.put(i / kVectors, i % kVectors, numbers);
    }
    __syncthreads();
    s_tile.store(tid, first_row, first_col, out);
}
// #endregion transpose
