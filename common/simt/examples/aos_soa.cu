// aos_soa.cu: an array of structures, or a structure of arrays?
//
//     ./learn xray common/simt/examples/aos_soa.cu          (aos_soa [n = 4096])
//
// The lanes of a warp read the same field of neighbouring elements. In an array of
// structures these are sizeof(structure) apart.
#include "example.h"

constexpr int kThreads = 256;

/// k floats, one after another.
template <int k>
struct Fields {
    float f[k];
};

/// The squares of all fields, from an array of structures: k loads, and the lanes of
/// each are 4k bytes apart. They span 4k sectors, 32 at most: each load moves all 32
/// structures, so the bytes come k times. L1 may serve the repeats, at a sector's
/// price.
template <int k>
__global__ void energy_aos(const Fields<k>* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int field = 0; field < k; ++field) {
        const float value = in[i].f[field];  // @aos.load
        sum += value * value;
    }
    out[i] = sum;  // @aos.store
}

/// The same from k arrays of n floats: neighbouring lanes, 4 sectors a load, each
/// sector once.
template <int k>
__global__ void energy_soa(const float* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int field = 0; field < k; ++field) {
        const float value = in[field * n + i];  // @soa.load
        sum += value * value;
    }
    out[i] = sum;  // @soa.store
}

/// A structure that is aligned to its 16 bytes can be loaded in one access: 16 sectors,
/// all used. An array of structures is no fault if the whole structure is read at once.
__global__ void energy_float4(const float4* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const float4 p = in[i];                                  // @float4.load
    out[i] = p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w;  // @float4.store
}

/// One field of eight is wanted: 32 sectors for 128 bytes, and seven eighths of what is
/// moved are never looked at. From a structure of arrays it is stride 1: 4 sectors.
__global__ void one_field_aos(const Fields<8>* in, float* out, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const float value = in[i].f[3];  // @one.load
    out[i] = value;                  // @one.store
}

int main(int argc, char** argv) {
    const int n = example::size_argument(argc, argv, 4096, kThreads);
    const int blocks = n / kThreads;
    const std::vector<float> values = example::numbers(size_t(n) * 8);
    example::Array<float> in(values), out(std::vector<float>(n, -1.0f));
    example::Verdict verdict;

    // Field f of element i is values[i * step + f * plane].
    const auto verify = [&](const char* kernel, int k, size_t step, size_t plane) {
        std::vector<float> want(n);
        for (int i = 0; i < n; ++i) {
            for (int f = 0; f < k; ++f) {
                const float value = values[i * step + f * plane];
                want[i] += value * value;
            }
        }
        verdict.compare(kernel, out.download(), want, 1e-6);
    };

    using F3 = Fields<3>;
    using F4 = Fields<4>;
    using F8 = Fields<8>;
    float* const data = in.data();
    energy_aos<3><<<blocks, kThreads>>>(reinterpret_cast<F3*>(data), out.data(), n);
    verify("energy_aos<3>", 3, 3, 1);
    energy_aos<4><<<blocks, kThreads>>>(reinterpret_cast<F4*>(data), out.data(), n);
    verify("energy_aos<4>", 4, 4, 1);
    energy_aos<8><<<blocks, kThreads>>>(reinterpret_cast<F8*>(data), out.data(), n);
    verify("energy_aos<8>", 8, 8, 1);
    energy_soa<3><<<blocks, kThreads>>>(data, out.data(), n);
    verify("energy_soa<3>", 3, 1, n);
    energy_soa<4><<<blocks, kThreads>>>(data, out.data(), n);
    verify("energy_soa<4>", 4, 1, n);
    energy_soa<8><<<blocks, kThreads>>>(data, out.data(), n);
    verify("energy_soa<8>", 8, 1, n);
    energy_float4<<<blocks, kThreads>>>(reinterpret_cast<float4*>(data), out.data(), n);
    verify("energy_float4", 4, 4, 1);

    one_field_aos<<<blocks, kThreads>>>(reinterpret_cast<F8*>(data), out.data(), n);
    std::vector<float> third(n);
    for (int i = 0; i < n; ++i)
        third[i] = values[size_t(i) * 8 + 3];
    verdict.compare("one_field_aos", out.download(), third);
    return verdict.exit_status();
}
