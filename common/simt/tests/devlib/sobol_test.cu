// cuRAND's quasi-random sequences: digests of what NVIDIA's generators on the host give
// (CUDA 13.0), and the states of kernels against the generators.
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdint>

#include "check.h"

namespace {

/// A hash of bytes (FNV-1a).
struct Digest {
    uint64_t value = 1469598103934665603ull;
    template <class T>
    void add(const std::vector<T>& values) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
        for (size_t i = 0; i < sizeof(T) * values.size(); ++i)
            value = (value ^ bytes[i]) * 1099511628211ull;
    }
};

struct Generator {
    curandGenerator_t g = nullptr;
    Generator(curandRngType_t type,
              unsigned dimensions,
              unsigned long long offset = 0) {
        check::expect(curandCreateGeneratorHost(&g, type) == CURAND_STATUS_SUCCESS &&
                          curandSetQuasiRandomGeneratorDimensions(g, dimensions) ==
                              CURAND_STATUS_SUCCESS &&
                          curandSetGeneratorOffset(g, offset) == CURAND_STATUS_SUCCESS,
                      "a quasi-random generator");
    }
    ~Generator() { curandDestroyGenerator(g); }
};

/// Bits, floats and doubles, one after the other.
uint64_t digest(curandRngType_t type, unsigned dimensions, unsigned long long offset) {
    const Generator generator(type, dimensions, offset);
    const size_t n = 60 * dimensions;
    Digest result;
    if (type == CURAND_RNG_QUASI_SOBOL64) {
        std::vector<unsigned long long> bits(n);
        curandGenerateLongLong(generator.g, bits.data(), n);
        result.add(bits);
    } else {
        std::vector<unsigned> bits(n);
        curandGenerate(generator.g, bits.data(), n);
        result.add(bits);
    }
    std::vector<float> floats(n);
    curandGenerateUniform(generator.g, floats.data(), n);
    result.add(floats);
    std::vector<double> doubles(n);
    curandGenerateUniformDouble(generator.g, doubles.data(), n);
    result.add(doubles);
    return result.value;
}

__global__ void draw(unsigned* vectors, unsigned* out, float* normal, int points) {
    curandStateSobol32_t state;
    curand_init(vectors + 32 * threadIdx.x, 7, &state);
    curandStateScrambledSobol32_t scrambled;
    curand_init(vectors + 32 * threadIdx.x, 0xabcdu, 7, &scrambled);
    for (int i = 0; i < points; ++i) {
        const unsigned x = curand(&state);
        out[threadIdx.x * points + i] = curand(&scrambled) == (x ^ 0xabcdu) ? x : 1;
    }
    skipahead(5u, &state);
    normal[threadIdx.x] = curand_normal(&state);
}

/// Four numbers at once against two pairs of them.
__global__ void fours(double* differences) {
    curandStatePhilox4_32_10_t four, two;
    curand_init(11, 3, 6, &four);
    curand_init(11, 3, 6, &two);
    const auto u = curand_uniform4_double(&four);
    (void)curand_uniform2_double(&two);
    differences[0] = u.w - curand_uniform2_double(&two).y;
    const auto n = curand_normal4_double(&four);
    (void)curand_normal2_double(&two);
    differences[1] = n.z - curand_normal2_double(&two).x;
    const auto l = curand_log_normal4_double(&four, 1, 0.5);
    (void)curand_log_normal2_double(&two, 1, 0.5);
    differences[2] = l.w - exp(1 + 0.5 * curand_normal2_double(&two).y);
    const float4 f = curand_log_normal4(&four, 1, 0.5f);
    differences[3] = double{f.y} - double{expf(1 + 0.5f * curand_normal4(&two).y)};
    two = four;
    const uint4 p = curand_poisson4(&four, 20);
    differences[4] = 0;
    for (const unsigned count : {p.x, p.y, p.z, p.w})
        differences[4] += double(count) - curand_poisson(&two, 20);
}

}  // namespace

int main() {
    check::expect(digest(CURAND_RNG_QUASI_SOBOL32, 1, 0) == 0x64aabd5f0936c1f3,
                  "one dimension of 32 bits");
    check::expect(digest(CURAND_RNG_QUASI_SOBOL32, 37, 5) == 0x999ea3d686bd3a38,
                  "37 dimensions of 32 bits");
    check::expect(digest(CURAND_RNG_QUASI_SOBOL32, 1111, 1000003) == 0xf032a5935f09c220,
                  "1111 dimensions of 32 bits, far into the sequence");
    check::expect(digest(CURAND_RNG_QUASI_SOBOL64, 1111, 1000003) == 0x964c7ae1f5715b10,
                  "1111 dimensions of 64 bits, far into the sequence");

    const Generator normal(CURAND_RNG_QUASI_SOBOL32, 1);
    float numbers[4];
    curandGenerateNormal(normal.g, numbers, 4, 0, 1);
    check::expect(std::fabs(numbers[0] + 6.33795738f) < 1e-5f && numbers[1] == 0 &&
                      std::fabs(numbers[2] - 0.674489737f) < 1e-6f,
                  "normal numbers have the sign of the inverse distribution");
    check::expect(
        curandGenerateUniform(Generator(CURAND_RNG_QUASI_SOBOL32, 2).g, numbers, 3) ==
            CURAND_STATUS_LENGTH_NOT_MULTIPLE,
        "whole points only");
    check::expect(
        curandSetPseudoRandomGeneratorSeed(normal.g, 1) == CURAND_STATUS_TYPE_ERROR,
        "quasi-random numbers have no seed");

    constexpr int kDimensions = 20;
    constexpr int kPoints = 50;
    curandDirectionVectors32_t* vectors = nullptr;
    check::expect(
        curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6) ==
            CURAND_STATUS_SUCCESS,
        "direction vectors");
    const check::Array<unsigned> device(
        std::vector<unsigned>(&vectors[0][0], &vectors[0][0] + 32 * kDimensions));
    const check::Array<unsigned> out(kDimensions * kPoints);
    const check::Array<float> one(kDimensions);
    draw<<<1, kDimensions>>>(device.data(), out.data(), one.data(), kPoints);
    std::vector<unsigned> wanted(kDimensions * kPoints);
    const Generator same(CURAND_RNG_QUASI_SOBOL32, kDimensions, 7);
    curandGenerate(same.g, wanted.data(), wanted.size());
    check::expect(check::all_equal(out.host(), [&](int i) { return wanted[i]; }),
                  "states in a kernel, plain and scrambled");
    std::vector<float> later(kDimensions);
    const Generator ahead(CURAND_RNG_QUASI_SOBOL32, kDimensions, 7 + kPoints + 5);
    curandGenerateNormal(ahead.g, later.data(), later.size(), 0, 1);
    bool near = true;
    const auto got = one.host();
    for (int d = 0; d < kDimensions; ++d)
        near = near && std::fabs(got[d] - later[d]) < 1e-5f;
    check::expect(near, "skipahead and normal numbers in a kernel");
    const check::Array<double> differences(5);
    fours<<<1, 1>>>(differences.data());
    for (const double difference : differences.host())
        check::expect(std::fabs(difference) < 1e-5,
                      "four pseudo-random numbers at once");
    return check::report();
}
