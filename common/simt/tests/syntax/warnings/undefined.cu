// Shifts and conversions that C++ leaves open: a GPU's answer is not a CPU's.
#include <cmath>

__global__ void conversions(const float* f, const double* d, int* i, unsigned* u) {
    const int t = threadIdx.x;
    auto* bytes = reinterpret_cast<unsigned char*>(i + 32);
    // says: 1e+10 as 'int', which cannot hold it
    // says: a GPU gives 2147483647, the result here is -2147483648
    i[t] = f[t];
    // says: 1e+10 as 'int', which cannot hold it
    // says: a GPU gives 2147483647
    i[t] = (int)d[t];
    // says: 1e+10 as 'unsigned int', which cannot hold it
    // says: a GPU gives 4294967295, the result here is 1410065408
    u[t] = f[t];
    // says: -1 as 'unsigned int', which cannot hold it
    // says: a GPU gives 0, the result here is 4294967295
    u[t] = unsigned(-f[8]);
    // says: NaN as 'int', which cannot hold it
    // says: a GPU gives 0, the result here is -2147483648
    i[t] = int(std::sqrt(-f[8]));
    // says: -1 as 'unsigned char', which cannot hold it
    // says: a GPU gives 0, the result here is 255
    bytes[t] = -f[8];
    bytes[t] = 300.0f * f[8];  // 44 on both
    i[t] = __float2int_rz(f[t]) + __double2int_rn(d[t]);
}

__global__ void shifts(int* i, unsigned* u, int n) {
    const int t = threadIdx.x;
    // says: a shift of type 'unsigned int' by 32 bits
    // says: a GPU shifts all bits out, the result here is that of a shift by 0
    u[t] = (1u << n) - 1;
    // says: a shift of type 'int' by 33 bits
    // says: a GPU shifts all bits out, the result here is that of a shift by 1
    i[t] = (t - 50) >> (n + 1);
    // says: a shift of type 'long long unsigned int' by 64 bits
    // says: a GPU
    u[t] += 1ull << (2 * n) >> n;
    u[t] += (n - 32u) << (n + t);  // nothing is shifted
    u[t] += __funnelshift_lc(1, 2, n) + 0x80000000u >> (t % 32);
}

int main() {
    float* f;
    double* d;
    int* i;
    cudaMallocManaged(&f, 128);
    cudaMallocManaged(&d, 256);
    cudaMallocManaged(&i, 256);
    for (int k = 0; k < 32; ++k)
        f[k] = d[k] = k < 8 ? 1e10f : 1.0f;
    volatile float large = 1e10f;
    i[0] = large;  // the host may do as it likes
    conversions<<<1, 32>>>(f, d, i, reinterpret_cast<unsigned*>(i));
    shifts<<<1, 32>>>(i, reinterpret_cast<unsigned*>(i), 32);
    conversions<<<1, 32>>>(f, d, i, reinterpret_cast<unsigned*>(i));
    return cudaDeviceSynchronize();
}
