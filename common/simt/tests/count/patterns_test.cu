// What the counters say about access patterns whose cost is known beforehand. Each
// number is derived in a comment; an H100 confirms most of them (../../examples).
#include <mma.h>

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "count_test.h"
#include "simt/ptx.h"

namespace {

// ---- One load or store by one warp ------------------------------------------------

/// out[lane] = in[at(lane)]: the load has the pattern, the store has stride 1.
template <class T, class At>
__global__ void load(const T* in, T* out, At at) {
    const int lane = static_cast<int>(threadIdx.x);
    const T value = in[at(lane)];
    out[lane] = value;
}

/// out[at(lane)] = in[lane].
template <class T, class At>
__global__ void store(const T* in, T* out, At at) {
    const int lane = static_cast<int>(threadIdx.x);
    const T value = in[lane];
    out[at(lane)] = value;
}

/// The same in shared memory; filling it has stride 1.
template <class T, class At>
__global__ void load_shared(const T* in, T* out, At at) {
    __shared__ T s[32 * 33];
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = lane; i < 32 * 33; i += 32)
        s[i] = in[0];
    __syncthreads();
    const T value = s[at(lane)];
    out[lane] = value;
}

struct Linear {
    int stride, offset;
    __host__ __device__ int operator()(int lane) const {
        return lane * stride + offset;
    }
};
struct Grouped {  // so many neighbours read the same element
    int lanes;
    __host__ __device__ int operator()(int lane) const { return lane / lanes; }
};
struct Swizzled {  // column of a tile whose element (r, c) lies in column c ^ r
    __host__ __device__ int operator()(int lane) const {
        return lane * 32 + (5 ^ lane);
    }
};

template <class T, class At>
void expect_global(const char* name, At at, double sectors, double ideal) {
    const Buffer<T> in(4096), out(4096);
    const Section section(name);
    load<T><<<1, 32>>>(in.get(), out.get(), at);
    const Counters l = section.counters("load");
    EXPECT(l.global_load.requests, 1);
    EXPECT(l.global_load.lanes, 32);
    EXPECT(l.global_load.sectors, sectors);
    EXPECT(l.global_load.ideal_sectors, ideal);
    EXPECT(l.bytes_moved, (sectors + sizeof(T)) * 32);  // the store: sizeof(T) sectors
    EXPECT(l.bytes_read, sectors * 32);
    if (at(0) == at(1)) return;  // lanes that share an element must not all write it
    store<T><<<1, 32>>>(in.get(), out.get(), at);
    const Counters s = section.counters("store");
    EXPECT(s.global_store.requests, 1);
    EXPECT(s.global_store.sectors, sectors);
    EXPECT(s.bytes_written, sectors * 32);
}

void global_patterns() {
    // A sector is 8 floats. 32 lanes at stride s touch 32 s / 8 sectors, 32 at most.
    expect_global<float>("stride 1", Linear{1, 0}, 4, 4);
    expect_global<float>("stride 2", Linear{2, 0}, 8, 4);
    expect_global<float>("stride 4", Linear{4, 0}, 16, 4);
    expect_global<float>("stride 8", Linear{8, 0}, 32, 4);
    expect_global<float>("stride 16", Linear{16, 0}, 32, 4);
    expect_global<float>("stride 32", Linear{32, 0}, 32, 4);
    expect_global<float>("backwards", Linear{-1, 31}, 4, 4);
    expect_global<float>("misaligned", Linear{1, 1}, 5, 4);
    expect_global<float>("broadcast", Linear{0, 7}, 1, 1);
    expect_global<float>("four share", Grouped{4}, 1, 1);
    // 2, 8 and 16 bytes from each lane: 64, 256 and 512 bytes.
    expect_global<__half>("half", Linear{1, 0}, 2, 2);
    expect_global<double>("double", Linear{1, 0}, 8, 8);
    expect_global<float2>("float2", Linear{1, 0}, 8, 8);
    expect_global<float4>("float4", Linear{1, 0}, 16, 16);
    expect_global<float4>("float4, stride 2", Linear{2, 0}, 32, 16);
}

template <class T, class At>
void expect_shared(const char* name, At at, double wavefronts, double ideal) {
    const Buffer<T> in(1), out(32);
    const Section section(name);
    load_shared<T><<<1, 32>>>(in.get(), out.get(), at);
    const Counters c = section.counters("load_shared");
    EXPECT(c.shared_load.requests, 1);
    EXPECT(c.shared_load.wavefronts, wavefronts);
    EXPECT(c.shared_load.ideal_wavefronts, ideal);
    EXPECT(c.shared_load.worst_ways, wavefronts / ideal);
    EXPECT(c.shared_store.requests, 33);
    EXPECT(c.shared_store.conflicts(), 0);
    EXPECT(c.barriers, 1);
}

void shared_patterns() {
    // Word w is in bank w % 32: stride s brings gcd(s, 32) words into a bank.
    expect_shared<float>("shared stride 1", Linear{1, 0}, 1, 1);
    expect_shared<float>("shared stride 2", Linear{2, 0}, 2, 1);
    expect_shared<float>("shared stride 3", Linear{3, 0}, 1, 1);
    expect_shared<float>("shared stride 4", Linear{4, 0}, 4, 1);
    expect_shared<float>("column of [32][32]", Linear{32, 5}, 32, 1);
    expect_shared<float>("column of [32][33]", Linear{33, 5}, 1, 1);
    expect_shared<float>("swizzled column", Swizzled{}, 1, 1);
    expect_shared<float>("shared broadcast", Linear{0, 5}, 1, 1);
    expect_shared<float>("shared pairs", Grouped{2}, 1, 1);
    // 64 lanes' worth of 2-byte words: two lanes share a word.
    expect_shared<__half>("shared half", Linear{1, 0}, 1, 1);
    // A half warp of doubles fills the 32 banks; so does a quarter warp of float4.
    expect_shared<double>("shared double", Linear{1, 0}, 2, 2);
    expect_shared<double>("shared double, stride 2", Linear{2, 0}, 4, 2);
    expect_shared<float4>("shared float4", Linear{1, 0}, 4, 4);
    expect_shared<float4>("shared float4, stride 4", Linear{4, 0}, 16, 4);
}

// ---- Vectors, structures and the accesses of library functions ----------------------

struct Pair {  // aligned to 4 bytes only
    float a, b;
};

__global__ void vectors(
    const float4* in, float4* f4, float2* f2, __half2* h2, Pair* p, float3* f3) {
    const int i = static_cast<int>(threadIdx.x);
    f4[i] = make_float4(1, 2, 3, i);  // one request of 16 sectors, and so on
    f4[i] = float4{1, 2, 3, 4};       // 16
    f4[i] = __ldcg(&in[i]);           // a load and a store of 16
    f2[i] = make_float2(i, 1);        // 8
    h2[i] = __floats2half2_rn(1, i);  // 4
    p[i] = Pair{1, __ldg(&in[0].x)};  // a load of 1; two stores of 8
    f3[i] = make_float3(i, 1, 2);     // three stores; lanes 12 bytes apart: 12
}

void vector_stores() {
    const Buffer<float4> in(32), f4(32);
    const Buffer<float2> f2(32);
    const Buffer<__half2> h2(32);
    const Buffer<Pair> p(32);
    const Buffer<float3> f3(32);
    const Section section("vectors");
    vectors<<<1, 32>>>(in.get(), f4.get(), f2.get(), h2.get(), p.get(), f3.get());
    const Counters c = section.counters("vectors");
    EXPECT(c.global_load.requests, 2);
    EXPECT(c.global_load.sectors, 16 + 1);
    EXPECT(c.global_store.requests, 3 + 1 + 1 + 2 + 3);
    EXPECT(c.global_store.sectors, 3 * 16 + 8 + 4 + 2 * 8 + 3 * 12);
}

__constant__ float coefficients[64];
__constant__ const float known[4] = {1, 2, 3, 4};
__device__ unsigned int visitors;
__device__ float table[64];

__global__ void atomics(unsigned int* bins, unsigned int* out) {
    __shared__ unsigned int s[64];
    const unsigned int i = threadIdx.x;
    s[i] = s[i + 32] = 0;
    __syncthreads();
    atomicAdd(&bins[i % 8], 1u);  // 8 addresses in 1 sector, 4 lanes at each
    atomicAdd(&bins[i * 8], 1u);  // 32 sectors
    atomicAdd(&visitors, 1u);     // 1 address: 32 lanes
    atomicAdd(&s[i], 1u);         // 1 step
    atomicAdd(&s[2 * i], 1u);     // 2 lanes in a bank: 2 steps
    atomicMax(&s[i / 16], i);     // 16 lanes at an address: 16 steps
    // Constant memory has no sectors, a table has: 4.
    out[i] = __float_as_uint(coefficients[i] + known[i % 4] + table[i]);
}

void atomic_operations() {
    const Buffer<unsigned int> bins(256), out(32);
    const float values[64] = {};
    cudaMemcpyToSymbol(coefficients, values, sizeof values);
    cudaMemcpyToSymbol(table, values, sizeof values);
    const Section section("atomics");
    atomics<<<1, 32>>>(bins.get(), out.get());
    const Counters c = section.counters("atomics");
    EXPECT(c.global_atomic.requests, 3);
    EXPECT(c.global_atomic.sectors, 1 + 32 + 1);
    EXPECT(c.worst_contention, 32);
    EXPECT(c.shared_atomic.requests, 3);
    EXPECT(c.shared_atomic.wavefronts, 1 + 2 + 16);
    EXPECT(c.global_load.requests, 1);
    EXPECT(c.global_load.ideal_sectors, 4);
    EXPECT(c.global_store.sectors, 4);
}

/// Rows of 8 halves in a matrix with kPitch halves in a row, for ldmatrix and wmma.
template <int kPitch>
__global__ void matrices(const __half* in, float* out) {
    __shared__ alignas(128) __half s[16 * kPitch];
    const int i = static_cast<int>(threadIdx.x);
    for (int k = i; k < 16 * kPitch; k += 32)
        s[k] = in[k % 16];
    __syncthreads();
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::load_matrix_sync(a, s, kPitch);  // 4 lanes of 4 bytes in each of 8 rows: x 4
    out[i] = __half2float(a.x[0]);
}

void wmma_loads() {
    const Buffer<__half> in(16);
    const Buffer<float> out(32);
    const Section section("wmma");
    matrices<64><<<1, 32>>>(in.get(), out.get());
    matrices<72><<<1, 32>>>(in.get(), out.get());
    // Rows 128 bytes apart begin in the same bank: 8 rows, 8 ways. 144 bytes apart they
    // begin 4 banks further each: the 8 rows of 4 words fill the 32 banks.
    const Counters bad = section.counters("matrices<64>");
    EXPECT(bad.shared_load.requests, 4);
    EXPECT(bad.shared_load.wavefronts, 4 * 8);
    const Counters good = section.counters("matrices<72>");
    EXPECT(good.shared_load.requests, 4);
    EXPECT(good.shared_load.wavefronts, 4);
}

template <int kPitch>
__global__ void rows(const __half* in, unsigned* out) {
    __shared__ alignas(128) __half s[16 * kPitch];
    const int i = static_cast<int>(threadIdx.x);
    for (int k = i; k < 16 * kPitch; k += 32)
        s[k] = in[k % 16];
    __syncthreads();
    unsigned r[4];
    simt::ptx::ldmatrix<false>(r, &s[i % 16 * kPitch + i / 16 * 8]);
    out[i] = r[0];
}

void ldmatrix_loads() {
    const Buffer<__half> in(16);
    const Buffer<unsigned> out(32);
    const Section section("ldmatrix");
    rows<64><<<1, 32>>>(in.get(), out.get());
    rows<72><<<1, 32>>>(in.get(), out.get());
    // One request for 4 matrices, a wavefront each if their 8 rows fill the 32 banks.
    EXPECT(section.counters("rows<64>").shared_load.requests, 1);
    EXPECT(section.counters("rows<64>").shared_load.wavefronts, 4 * 8);
    EXPECT(section.counters("rows<72>").shared_load.requests, 1);
    EXPECT(section.counters("rows<72>").shared_load.wavefronts, 4);
}

/// The way back: four matrices from registers to rows of kPitch halves.
template <int kPitch>
__global__ void stored_rows(unsigned* out) {
    __shared__ alignas(128) __half s[16 * kPitch];
    const int i = static_cast<int>(threadIdx.x);
    const unsigned r[4] = {1, 2, 3, 4};
    simt::ptx::stmatrix<false>(&s[i % 16 * kPitch + i / 16 * 8], r);
    __syncthreads();
    out[i] = reinterpret_cast<unsigned*>(s)[0];
}

void stmatrix_stores() {
    const Buffer<unsigned> out(32);
    const Section section("stmatrix");
    stored_rows<64><<<1, 32>>>(out.get());
    stored_rows<72><<<1, 32>>>(out.get());
    EXPECT(section.counters("stored_rows<64>").shared_store.requests, 1);
    EXPECT(section.counters("stored_rows<64>").shared_store.wavefronts, 4 * 8);
    EXPECT(section.counters("stored_rows<72>").shared_store.requests, 1);
    EXPECT(section.counters("stored_rows<72>").shared_store.wavefronts, 4);
}

/// Pieces of 16 bytes, from neighbouring places or from every other one.
template <int kStride>
__global__ void copies(const float4* in, float4* out) {
    __shared__ float4 s[32];
    const int i = static_cast<int>(threadIdx.x);
    __pipeline_memcpy_async(&s[i], &in[i * kStride], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = s[31 - i];
}

void asynchronous_copies() {
    const Buffer<float4> in(64), out(32);
    const Section section("copies");
    copies<1><<<1, 32>>>(in.get(), out.get());
    copies<2><<<1, 32>>>(in.get(), out.get());
    const Counters dense = section.counters("copies<1>");
    EXPECT(dense.async_load.requests, 1);
    EXPECT(dense.async_load.sectors, 16);
    EXPECT(dense.global_load.requests, 0);
    EXPECT(dense.shared_store.requests, 0);
    EXPECT(dense.shared_load.wavefronts, 4);
    EXPECT(dense.bytes_moved, 2 * 512);
    EXPECT(section.counters("copies<2>").async_load.sectors, 32);
}

}  // namespace

int main() {
    global_patterns();
    shared_patterns();
    vector_stores();
    atomic_operations();
    wmma_loads();
    ldmatrix_loads();
    stmatrix_stores();
    asynchronous_copies();
    return verdict();
}
