// strided_copy.cu: what a warp's 32 accesses cost when they are not neighbours.
//
//     ./learn xray common/simt/examples/strided_copy.cu     (strided_copy [n = 4096])
//
// A request is one access instruction of one warp. It moves each 32-byte sector that
// one of its lanes touches, once, and whole.
#include "example.h"

constexpr int kThreads = 256;

/// Element i * kStride for thread i. The lanes span 32 * kStride * 4 bytes, so that a
/// load costs 4 * kStride sectors, and never more than one a lane: 32 from stride 8 on.
template <int kStride>
__global__ void copy_strided(const float* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const float value = in[i * kStride];  // @strided.load
    out[i] = value;                       // @strided.store
}

/// The same neighbours, but 4 bytes past a sector's start: 128 bytes in 5 sectors.
__global__ void copy_misaligned(const float* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const float value = in[i + 1];  // @misaligned.load
    out[i] = value;                 // @misaligned.store
}

/// One access of sizeof(T) bytes a thread, all of it used: a request costs sizeof(T)
/// sectors. Wider types move the same sectors in fewer requests.
template <class T>
__global__ void copy_as(const T* in, T* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const T value = in[i];  // @as.load
    out[i] = value;         // @as.store
}

/// Eight lanes of 32 take part, for the others have left: 1 sector.
__global__ void copy_few_lanes(const float* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n || i % 32 >= 8) return;
    const float value = in[i];  // @few.load
    out[i] = value;             // @few.store
}

/// Every lane of a block reads one word: 1 sector, however many lanes want it.
__global__ void copy_broadcast(const float* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const float value = in[blockIdx.x];  // @broadcast.load
    out[i] = value;                      // @broadcast.store
}

int main(int argc, char** argv) {
    const int n = example::size_argument(argc, argv, 4096, kThreads);
    const int blocks = n / kThreads;
    const std::vector<float> source = example::numbers(size_t(n) * 32);
    const std::vector<float> blank(size_t(n) * 4, -2.0f);  // room for n float4
    example::Array<float> in(source), out(blank);
    example::Verdict verdict;

    // out[i] must be source[from(i)] for i < count, and untouched where that is -1.
    const auto verify = [&](const char* kernel, int count, auto from) {
        std::vector<float> want(blank);
        for (int i = 0; i < count; ++i) {
            if (from(i) >= 0) want[i] = source[from(i)];
        }
        verdict.compare(kernel, out.download(), want);
        out.upload(blank);
    };

    copy_strided<1><<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_strided<1>", n, [](int i) { return i; });
    copy_strided<2><<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_strided<2>", n, [](int i) { return 2 * i; });
    copy_strided<4><<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_strided<4>", n, [](int i) { return 4 * i; });
    copy_strided<8><<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_strided<8>", n, [](int i) { return 8 * i; });
    copy_strided<16><<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_strided<16>", n, [](int i) { return 16 * i; });
    copy_strided<32><<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_strided<32>", n, [](int i) { return 32 * i; });
    copy_misaligned<<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_misaligned", n, [](int i) { return i + 1; });
    copy_few_lanes<<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_few_lanes", n, [](int i) { return i % 32 < 8 ? i : -1; });
    copy_broadcast<<<blocks, kThreads>>>(in.data(), out.data(), n);
    verify("copy_broadcast", n, [](int i) { return i / kThreads; });

    // The same bytes as other types: sizeof(T) / sizeof(float) floats, or parts of one.
    const auto verify_as = [&](const char* kernel, int floats) {
        verify(kernel, floats, [](int i) { return i; });
    };
    copy_as<unsigned char>
        <<<blocks, kThreads>>>(reinterpret_cast<const unsigned char*>(in.data()),
                               reinterpret_cast<unsigned char*>(out.data()),
                               n);
    verify_as("copy_as<unsigned char>", n / 4);
    copy_as<double><<<blocks, kThreads>>>(reinterpret_cast<const double*>(in.data()),
                                          reinterpret_cast<double*>(out.data()),
                                          n);
    verify_as("copy_as<double>", n * 2);
    copy_as<float2><<<blocks, kThreads>>>(reinterpret_cast<const float2*>(in.data()),
                                          reinterpret_cast<float2*>(out.data()),
                                          n);
    verify_as("copy_as<float2>", n * 2);
    copy_as<float4><<<blocks, kThreads>>>(reinterpret_cast<const float4*>(in.data()),
                                          reinterpret_cast<float4*>(out.data()),
                                          n);
    verify_as("copy_as<float4>", n * 4);
    return verdict.exit_status();
}
