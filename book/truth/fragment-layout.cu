// fragment-layout.cu: which element of A, B and C each register of each lane holds in
// mma.m16n8k16, and where the 128-byte swizzle puts the chunks of a tile, with what
// that costs ldmatrix. For the figure <FragmentLayout />.
//
// A and B are loaded by ldmatrix from tiles whose elements are their own numbers. Then
// mma.sync multiplies two matrices, loaded in the same way, whose product's elements
// are their own numbers: so the layouts of A, B and C are what the instruction uses.
#include <cuda_bf16.h>
#include <json.h>
#include <simt/check.h>
#include <simt/counters.h>
#include <wb/check.h>
#include <wb/ptx/ldmatrix.h>
#include <wb/ptx/mma.h>
#include <wb/ptx/tma.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

using truth::Json;

constexpr int kM = 16;
constexpr int kN = 8;
constexpr int kK = 16;
constexpr int kLanes = 32;

/// What the lanes hold: 16-bit elements of A and B, floats of C.
struct Fragments {
    uint16_t a[kLanes][8];
    uint16_t b[kLanes][4];
    float c[kLanes][4];
};

/// The fragments of s_a and s_b.
__device__ void load_fragments(uint32_t (&a)[4],
                               uint32_t (&b)[2],
                               const uint16_t (&s_a)[kM][kK],
                               const uint16_t (&s_b)[kK][kN]) {
    const int lane = threadIdx.x;
    wb::ptx::ldmatrix(a, &s_a[lane % 16][lane / 16 * 8]);
    wb::ptx::ldmatrix<true>(b, &s_b[lane % 16][0]);
}

/// Launch   one warp
__global__ void fragments_kernel(Fragments* fragments) {
    __shared__ __align__(16) uint16_t s_a[kM][kK];
    __shared__ __align__(16) uint16_t s_b[kK][kN];
    const int lane = threadIdx.x;
    uint32_t a[4];
    uint32_t b[2];
    for (int e = lane; e < kM * kK; e += kLanes)
        s_a[e / kK][e % kK] = static_cast<uint16_t>(e);
    for (int e = lane; e < kK * kN; e += kLanes)
        s_b[e / kN][e % kN] = static_cast<uint16_t>(e);
    __syncwarp();
    load_fragments(a, b, s_a, s_b);
    for (int i = 0; i < 8; ++i)
        fragments->a[lane][i] = static_cast<uint16_t>(a[i / 2] >> i % 2 * 16);
    for (int i = 0; i < 4; ++i)
        fragments->b[lane][i] = static_cast<uint16_t>(b[i / 2] >> i % 2 * 16);
    __syncwarp();
    // A has the columns (row, 1, 0, ...), B the rows (8, 8, ...) and (0, 1, 2, ...).
    for (int e = lane; e < kM * kK; e += kLanes) {
        const int k = e % kK;
        const int number = k == 0 ? e / kK : k == 1 ? 1 : 0;
        s_a[e / kK][k] = __bfloat16_as_ushort(__int2bfloat16_rn(number));
    }
    for (int e = lane; e < kK * kN; e += kLanes) {
        const int k = e / kN;
        const int number = k == 0 ? kN : k == 1 ? e % kN : 0;
        s_b[k][e % kN] = __bfloat16_as_ushort(__int2bfloat16_rn(number));
    }
    __syncwarp();
    load_fragments(a, b, s_a, s_b);
    float c[4] = {};
    wb::ptx::mma_m16n8k16_bf16(c, a, b);
    for (int i = 0; i < 4; ++i)
        fragments->c[lane][i] = c[i];
}

/// How the rows of a tile lie in shared memory; 64 numbers of 16 bits each.
enum class Rows { plain, padded, swizzled };
constexpr int kRows = 8;
constexpr int kChunks = 8;  // of 16 bytes

__host__ __device__ constexpr uint32_t offset_of(Rows rows, int row, int chunk) {
    switch (rows) {
        case Rows::plain:
            return row * 128 + chunk * 16;
        case Rows::padded:
            return row * 144 + chunk * 16;
        default:
            return wb::ptx::swizzle_128b(row, chunk * 16);
    }
}

/// Loads one 8x8 matrix, a chunk of each of eight rows.
/// Launch   one warp
template <Rows kLayout>
__global__ void load_kernel(int chunk, uint32_t* out) {
    __shared__ __align__(1024) char s_tile[kRows * 144];
    for (int i = threadIdx.x; i < kRows * 144; i += kLanes)
        s_tile[i] = 0;
    __syncwarp();
    uint32_t r[1];
    wb::ptx::ldmatrix(r, s_tile + offset_of(kLayout, threadIdx.x % kRows, chunk));
    out[threadIdx.x] = r[0];
}

template <Rows kLayout>
static void write_layout(Json* json, const char* name) {
    json->open('{').member("name", name).key("offsets").open('[');
    for (int row = 0; row < kRows; ++row) {
        json->open('[');
        for (int chunk = 0; chunk < kChunks; ++chunk)
            json->value(offset_of(kLayout, row, chunk));
        json->close(']');
    }
    json->close(']').key("wavefronts").open('[');
    uint32_t* out = nullptr;
    CUDA_CHECK(cudaMalloc(&out, kLanes * sizeof(uint32_t)));
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        simt::check::begin_section((name + std::to_string(chunk)).c_str());
        load_kernel<kLayout><<<1, kLanes>>>(chunk, out);
        CUDA_CHECK(cudaDeviceSynchronize());
        const auto counters = simt::check::counters("");
        if (counters.shared_load.requests != 1) {
            std::fprintf(stderr, "one ldmatrix should be counted\n");
            std::exit(1);
        }
        json->value(counters.shared_load.wavefronts);
    }
    CUDA_CHECK(cudaFree(out));
    json->close(']').close('}');
}

template <class T, int kCount>
static void write_lanes(Json* json,
                        const char* name,
                        const T (&lanes)[kLanes][kCount]) {
    json->key(name).open('[');
    for (const auto& lane : lanes) {
        json->open('[');
        for (const T element : lane)
            json->value(static_cast<int>(element));
        json->close(']');
    }
    json->close(']');
}

int main() {
    Fragments* fragments = nullptr;
    CUDA_CHECK(cudaMallocManaged(&fragments, sizeof(Fragments)));
    fragments_kernel<<<1, kLanes>>>(fragments);
    CUDA_CHECK(cudaDeviceSynchronize());
    Json json;
    json.open('{');
    write_lanes(&json, "a", fragments->a);
    write_lanes(&json, "b", fragments->b);
    write_lanes(&json, "c", fragments->c);
    json.key("layouts").open('[');
    write_layout<Rows::plain>(&json, "plain");
    write_layout<Rows::padded>(&json, "padded");
    write_layout<Rows::swizzled>(&json, "swizzled");
    json.close(']').close('}').print();
    CUDA_CHECK(cudaFree(fragments));
}
