// shared_banks.cu: the 32 banks of shared memory.
//
//     ./learn xray common/simt/examples/shared_banks.cu     (shared_banks [blocks = 8])
//
// Word w (4 bytes) is in bank w % 32. In one wavefront each bank gives one word, to all
// lanes that want it. A request needs as many wavefronts as the busiest bank has
// different words: its "ways". Blocks are one warp, so that each line is one request a
// block.
#include "example.h"

/// Lane t reads word t * kStride. Even strides share banks: 2, 4, 8, 16, 32 ways. Odd
/// strides visit all 32 banks before they return to the first: one way.
template <int kStride>
__global__ void load_strided(float* out) {
    __shared__ float s[32 * kStride];
    const int t = threadIdx.x;
    for (int i = t; i < 32 * kStride; i += 32)
        s[i] = i;  // @strided.fill
    __syncthreads();
    const float value = s[t * kStride];  // @strided.get
    out[blockIdx.x * 32 + t] = value;
}

/// All lanes read one word: a broadcast, one wavefront.
__global__ void load_broadcast(float* out) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = t;  // @broadcast.fill
    __syncthreads();
    const float value = s[blockIdx.x % 32];  // @broadcast.get
    out[blockIdx.x * 32 + t] = value;
}

/// Four neighbours share a word: 8 words in 8 banks, one wavefront.
__global__ void load_groups(float* out) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = t;  // @groups.fill
    __syncthreads();
    const float value = s[t / 4];  // @groups.get
    out[blockIdx.x * 32 + t] = value;
}

/// Neighbouring words of 8 bytes: 256 bytes cannot come in fewer than 2 wavefronts.
/// They do: no conflict.
__global__ void load_float2(float2* out) {
    __shared__ float2 s[32];
    const int t = threadIdx.x;
    s[t] = make_float2(t, -t);  // @float2.fill
    __syncthreads();
    const float2 value = s[t ^ 1];  // @float2.get
    out[blockIdx.x * 32 + t] = value;
}

/// Neighbouring words of 16 bytes: 512 bytes, 4 wavefronts, no conflict.
__global__ void load_float4(float4* out) {
    __shared__ float4 s[32];
    const int t = threadIdx.x;
    s[t] = make_float4(t, t + 1, t + 2, t + 3);  // @float4.fill
    __syncthreads();
    const float4 value = s[t ^ 1];  // @float4.get
    out[blockIdx.x * 32 + t] = value;
}

/// Every second float4: in a quarter of the warp, 8 lanes of 16 bytes, two lanes share
/// each bank they use: 8 wavefronts where 4 would do.
__global__ void load_float4_strided(float4* out) {
    __shared__ float4 s[64];
    const int t = threadIdx.x;
    for (int i = t; i < 64; i += 32)
        s[i] = make_float4(i, i + 1, i + 2, i + 3);  // @float4s.fill
    __syncthreads();
    const float4 value = s[2 * t];  // @float4s.get
    out[blockIdx.x * 32 + t] = value;
}

/// Lanes kApart apart want the same one of 16 neighbouring words of 8 or 16 bytes. That
/// these are half as many helps only if the lanes are 1 or 2 apart: then 8-byte words
/// are served to the whole warp at a time, else to half of it; 16-byte words to half
/// the warp, else to a quarter.
template <class T, int kApart>
__global__ void load_pairs(T* out) {
    __shared__ T s[32];
    const int t = threadIdx.x;
    s[t] = out[blockIdx.x * 32 + t];  // @pairs.fill
    __syncthreads();
    const T value = s[t / (2 * kApart) * kApart + t % kApart];  // @pairs.get
    out[blockIdx.x * 32 + t] = value;
}

/// Stores conflict as loads do: a column of a tile with 32 columns, 32 ways; with a
/// 33rd column as padding, one way.
template <int kPitch>
__global__ void store_column(float* out) {
    __shared__ float s[32 * kPitch];
    const int t = threadIdx.x;
    const int column = blockIdx.x % 32;
    s[t * kPitch + column] = t;  // @column.put
    __syncthreads();
    const float value = s[(t ^ 1) * kPitch + column];  // @column.get
    out[blockIdx.x * 32 + t] = value;
}

/// Atomics to word t / kShare * kStride: lanes that meet in a word, or in a bank,
/// follow one another.
template <int kShare, int kStride>
__global__ void add_common(float* out) {
    __shared__ unsigned s[32 * kStride];
    const int t = threadIdx.x;
    const int word = t / kShare * kStride;
    for (int i = t; i < 32 * kStride; i += 32)
        s[i] = 0;  // @add.clear
    __syncthreads();
    atomicAdd(&s[word], t + 1u);  // @add.count
    __syncthreads();
    const unsigned value = s[word];  // @add.get
    out[blockIdx.x * 32 + t] = value;
}

int main(int argc, char** argv) {
    const int blocks = example::size_argument(argc, argv, 8, 1);
    const std::vector<float> blank(size_t(blocks) * 128, -1.0f);
    example::Array<float> out(blank);
    example::Verdict verdict;

    // Element i of each block's output must be word(i, block), for i < count.
    const auto verify = [&](const char* kernel, int count, auto word) {
        std::vector<float> want(blank);
        for (int i = 0; i < blocks * count; ++i)
            want[i] = word(i % count, i / count);
        verdict.compare(kernel, out.download(), want);
        out.upload(blank);
    };
    const auto strided = [&](const char* kernel, int stride) {
        verify(kernel, 32, [=](int t, int) { return t * stride; });
    };

    load_strided<1><<<blocks, 32>>>(out.data());
    strided("load_strided<1>", 1);
    load_strided<2><<<blocks, 32>>>(out.data());
    strided("load_strided<2>", 2);
    load_strided<3><<<blocks, 32>>>(out.data());
    strided("load_strided<3>", 3);
    load_strided<4><<<blocks, 32>>>(out.data());
    strided("load_strided<4>", 4);
    load_strided<32><<<blocks, 32>>>(out.data());
    strided("load_strided<32>", 32);
    load_strided<33><<<blocks, 32>>>(out.data());
    strided("load_strided<33>", 33);
    load_broadcast<<<blocks, 32>>>(out.data());
    verify("load_broadcast", 32, [](int, int block) { return block % 32; });
    load_groups<<<blocks, 32>>>(out.data());
    verify("load_groups", 32, [](int t, int) { return t / 4; });
    load_float2<<<blocks, 32>>>(reinterpret_cast<float2*>(out.data()));
    verify("load_float2", 64, [](int i, int) {
        const int lane = (i / 2) ^ 1;
        return i % 2 == 0 ? lane : -lane;
    });
    load_float4<<<blocks, 32>>>(reinterpret_cast<float4*>(out.data()));
    verify("load_float4", 128, [](int i, int) { return ((i / 4) ^ 1) + i % 4; });
    load_float4_strided<<<blocks, 32>>>(reinterpret_cast<float4*>(out.data()));
    verify("load_float4_strided", 128, [](int i, int) { return i / 4 * 2 + i % 4; });

    // Each element is overwritten with that of the lane whose word this lane reads.
    const std::vector<float> numbers = example::numbers(blank.size());
    float2* const out2 = reinterpret_cast<float2*>(out.data());
    float4* const out4 = reinterpret_cast<float4*>(out.data());
    const auto paired = [&](const char* kernel, int width, int apart) {
        std::vector<float> want(numbers);
        for (int i = 0; i < blocks * 32 * width; ++i) {
            const int lane = i / width % 32;
            const int word = lane / (2 * apart) * apart + lane % apart;
            want[i] = numbers[i + (word - lane) * width];
        }
        verdict.compare(kernel, out.download(), want);
        out.upload(numbers);
    };
    out.upload(numbers);
    load_pairs<float2, 1><<<blocks, 32>>>(out2);
    paired("load_pairs<float2, 1>", 2, 1);
    load_pairs<float2, 2><<<blocks, 32>>>(out2);
    paired("load_pairs<float2, 2>", 2, 2);
    load_pairs<float2, 4><<<blocks, 32>>>(out2);
    paired("load_pairs<float2, 4>", 2, 4);
    load_pairs<float2, 8><<<blocks, 32>>>(out2);
    paired("load_pairs<float2, 8>", 2, 8);
    load_pairs<float2, 16><<<blocks, 32>>>(out2);
    paired("load_pairs<float2, 16>", 2, 16);
    load_pairs<float4, 1><<<blocks, 32>>>(out4);
    paired("load_pairs<float4, 1>", 4, 1);
    load_pairs<float4, 2><<<blocks, 32>>>(out4);
    paired("load_pairs<float4, 2>", 4, 2);
    load_pairs<float4, 4><<<blocks, 32>>>(out4);
    paired("load_pairs<float4, 4>", 4, 4);
    load_pairs<float4, 8><<<blocks, 32>>>(out4);
    paired("load_pairs<float4, 8>", 4, 8);
    load_pairs<float4, 16><<<blocks, 32>>>(out4);
    paired("load_pairs<float4, 16>", 4, 16);
    out.upload(blank);

    store_column<32><<<blocks, 32>>>(out.data());
    verify("store_column<32>", 32, [](int t, int) { return t ^ 1; });
    store_column<33><<<blocks, 32>>>(out.data());
    verify("store_column<33>", 32, [](int t, int) { return t ^ 1; });

    const auto added = [&](const char* kernel, int share) {
        verify(kernel, 32, [=](int t, int) {
            const int first =
                t / share * share + 1;  // + (first + 1) + …, share numbers
            return share * first + share * (share - 1) / 2;
        });
    };
    add_common<1, 1><<<blocks, 32>>>(out.data());
    added("add_common<1, 1>", 1);
    add_common<2, 1><<<blocks, 32>>>(out.data());
    added("add_common<2, 1>", 2);
    add_common<8, 1><<<blocks, 32>>>(out.data());
    added("add_common<8, 1>", 8);
    add_common<32, 1><<<blocks, 32>>>(out.data());
    added("add_common<32, 1>", 32);
    add_common<1, 2><<<blocks, 32>>>(out.data());
    added("add_common<1, 2>", 1);
    add_common<1, 32><<<blocks, 32>>>(out.data());
    added("add_common<1, 32>", 1);
    return verdict.exit_status();
}
