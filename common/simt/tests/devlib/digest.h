/// digest.h: the results of device functions on fixed inputs, as one hash per function.
///
/// Functions whose result CUDA defines to the last bit must give the same hash
/// everywhere: digest_expected.inc holds what an H100 gave.
///
///     DIGEST(mulhi, int, __mulhi(a, b))
///
/// adds a function of the inputs a, b, c of type int.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace digest {

constexpr int kInputs = 1 << 14;
constexpr int kDumped = 1 << 11;

/// One function: what it gives for each of `count` inputs, as bits.
struct Entry {
    const char* name;
    std::vector<uint64_t> (*results)(int count);
};
std::vector<Entry>& entries();

struct Registration {
    Registration(const char* name, std::vector<uint64_t> (*results)(int)) {
        entries().push_back({name, results});
    }
};

/// A pseudo-random number (splitmix64).
__host__ __device__ inline uint64_t random_bits(uint64_t index) {
    uint64_t z = index * 0x9e3779b97f4a7c15ull + 0x1234567ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

template <class To, class From>
__host__ __device__ inline To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits of equal size");
    To to;
    memcpy(static_cast<void*>(&to), &from, sizeof to);
    return to;
}

/// Inputs: every fourth any bits at all, the others of a magnitude that makes operands
/// meet.
template <class T>
struct Input {  // integers and bit patterns of other types
    __device__ static T make(uint64_t r) {
        T value;
        memcpy(static_cast<void*>(&value), &r, sizeof value);
        return value;
    }
};
template <>
struct Input<int> {
    __device__ static int make(uint64_t r) {
        return (r >> 62) == 0 ? int(r) : int(r) % 1000;
    }
};
template <>
struct Input<float> {
    __device__ static float make(uint64_t r) {
        uint32_t bits = uint32_t(r);
        if ((r >> 62) != 0)
            bits = (bits & 0x807fffffu) | (115u + (r >> 40) % 24u) << 23;
        // A signalling NaN is a quiet one for some CPUs' fmin, and none for a GPU's.
        if ((bits & 0x7f800000u) == 0x7f800000u) bits |= 0x00400000u;
        return same_bits<float>(bits);
    }
};
template <>
struct Input<double> {
    __device__ static double make(uint64_t r) {
        uint64_t bits = r;
        if ((r & 3) != 0) {
            bits = (bits & 0x800fffffffffffffull) | (1011 + (r >> 4) % 24) << 52;
        }
        constexpr uint64_t kInfinity = 0x7ff0000000000000ull;
        if ((bits & kInfinity) == kInfinity) bits |= 0x0008000000000000ull;
        return same_bits<double>(bits);
    }
};

/// The bits of a result; all NaN of float and double count as one.
template <class R>
__device__ uint64_t result_bits(R value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
__device__ inline uint64_t result_bits(float value) {
    return value != value ? 0x7fffffffu : same_bits<uint32_t>(value);
}
__device__ inline uint64_t result_bits(double value) {
    return value != value ? 0x7ff8000000000000ull : same_bits<uint64_t>(value);
}
__device__ inline uint64_t result_bits(bool value) {
    return value;
}

template <class F, class T>
__global__ void apply(uint64_t* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    out[i] = result_bits(F::apply(Input<T>::make(random_bits(3 * i)),
                                  Input<T>::make(random_bits(3 * i + 1)),
                                  Input<T>::make(random_bits(3 * i + 2))));
}

template <class F, class T>
std::vector<uint64_t> results(int count) {
    uint64_t* device = nullptr;
    if (cudaMalloc(&device, count * sizeof *device) != cudaSuccess) return {};
    apply<F, T><<<(count + 127) / 128, 128>>>(device, count);
    std::vector<uint64_t> host(count);
    const cudaError_t error =
        cudaMemcpy(host.data(), device, count * sizeof *device, cudaMemcpyDeviceToHost);
    cudaFree(device);
    if (error != cudaSuccess) {
        std::printf("error: %s\n", cudaGetErrorString(error));
        return {};
    }
    return host;
}

}  // namespace digest

#define DIGEST(NAME, T, ...)                                 \
    struct digest_##NAME {                                   \
        __device__ static auto apply([[maybe_unused]] T a,   \
                                     [[maybe_unused]] T b,   \
                                     [[maybe_unused]] T c) { \
            return __VA_ARGS__;                              \
        }                                                    \
    };                                                       \
    static const digest::Registration registered_##NAME(     \
        #NAME, digest::results<digest_##NAME, T>);
