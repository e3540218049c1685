// Inline PTX with an exact meaning on a CPU.
#include "check.h"

__device__ __forceinline__ unsigned lane_id() {
    unsigned r;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}
__device__ unsigned lanes_below() {
    unsigned r;
    asm("mov.u32 %0, %lanemask_lt;" : "=r"(r));
    return r;
}

__global__ void integers(int* o) {
    unsigned r = 0;
    int s = 0, i = 0;
    unsigned long long wide;
    asm("add.s32 %0, %1, %2;" : "=r"(s) : "r"(3), "r"(4));
    o[i++] = s;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(s) : "r"(3), "r"(4), "r"(5));
    o[i++] = s;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(0xabcd), "r"(4), "r"(8));
    o[i++] = r;
    asm("bfe.s32 %0, %1, 4, 4;" : "=r"(s) : "r"(0xf0));
    o[i++] = s;
    asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(r) : "r"(0xf), "r"(0));
    o[i++] = r;
    asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(r) : "r"(0x01020304), "r"(0));
    o[i++] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(12), "r"(10), "r"(1));
    o[i++] = r;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(0x80000000), "r"(1), "r"(1));
    o[i++] = r;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(1u << 31), "r"(4));
    o[i++] = wide >> 32;
    asm("popc.b32 %0, %1;\n\tclz.b32 %2, %1;"
        : "=r"(r), "+r"(s), "=r"(o[i])
        : "r"(0xff));
    o[i++] = 0;
    asm("{ shl.b32 %0, %1, 40; }" : "=r"(r) : "r"(1));
    o[i++] = r;
    asm volatile("" ::: "memory");
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("bar.sync 0;");
}

__global__ void floats(float* o, const float* in) {
    float f;
    unsigned bits;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(2.0f), "f"(3.0f), "f"(1.0f));
    o[0] = f;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(1.0f));
    o[1] = bits == 0x3f800000;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(3.0f));
    o[2] = f;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(f) : "l"(in));
    o[3] = f;
    asm volatile("ld.global.v2.f32 {%0, %1}, [%2+4];"
                 : "=f"(o[4]), "=f"(o[5])
                 : "l"(in));
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(o + 6), "f"(6.5f) : "memory");
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(o[7]) : "f"(4.0f));
}

__global__ void copies(int* o, const int4* in) {
    __shared__ int4 s[32];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                 "l"(in + threadIdx.x));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(0));
    __syncthreads();
    o[threadIdx.x] = s[31 - threadIdx.x].w + lane_id() + lanes_below() % 2;
}

// Two matrices to shared memory, the second time transposed.
__global__ void store_matrices(int* o) {
    __shared__ alignas(16) unsigned short s[256];
    const unsigned pair = 2 * threadIdx.x, low = pair | (pair + 1) << 16;
    const unsigned row =
        static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x % 16 * 8]));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row),
                 "r"(low),
                 "r"(low + 0x00400040)
                 : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%0+256], {%1};"
                 ::"r"(row),
                 "r"(low)
                 : "memory");
    __syncwarp();
    for (int i = threadIdx.x; i < 192; i += 32) o[i] = s[i];
}

#define VALUE(EXPRESSION) \
    asm("mov.u32 %0, " EXPRESSION ";" : "=r"(r)); \
    o[i++] = r

__global__ void constants(int* o) {
    int i = 0, r;
    VALUE("~7");
    VALUE("!1");
    VALUE("(3 + 7) * 10 / 4");
    VALUE("99 %% 10");
    VALUE("(0x1f & 0b1010) << 2");
    VALUE("1 ? 3 : 2");
    asm("mov.u32 %0, 99 % 7;" : "=r"(r));
    o[i++] = r;
    asm("mov.u32 %0, -4 + 0x10;" : "=r"(r));
    o[i++] = r;
}

#define TEST_OF(KIND, F)                                                          \
    asm("{ .reg .pred p; testp." KIND ".f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) \
        : "f"(F));                                                                \
    o[i++] = r

__global__ void rare(int* o) {
    __shared__ int s;
    int i = 0, r, leader;
    unsigned short pair;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(1.0f + 0x1.8p-11f));
    o[i++] = r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(-1.0f - 0x1p-11f));  // a tie: away
    o[i++] = r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(1.0f), "f"(1e9f));
    o[i++] = pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(-2.f), "f"(1.f));
    o[i++] = pair;
    TEST_OF("subnormal", 1e-40f);
    TEST_OF("normal", 1e-40f);
    TEST_OF("finite", INFINITY);
    TEST_OF("infinite", -INFINITY);
    TEST_OF("number", NAN);
    TEST_OF("notanumber", NAN);
    asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r)
        : "l"(&s));
    o[i++] = r;
    asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r)
        : "l"(o));
    o[i++] = r;
    if (threadIdx.x < 4) return;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(r)
                 : "r"(0xfffffff0));
    o[i + threadIdx.x] = 100 * leader + r;
}

int main() {
    DeviceArray<int> numbers(64);
    constants<<<1, 1>>>(numbers);
    const int want_constants[] = {~7, 0, 25, 9, 40, 3, 1, 12};
    for (int i = 0; i < 8; ++i) EXPECT(numbers.at(i), want_constants[i]);
    rare<<<1, 32>>>(numbers);
    const int want_rare[] = {
        0x3f802000, int(0xbf802000), 0x387e, 0xc03c, 1, 0, 0, 1, 0, 1, 1, 0};
    for (int i = 0; i < 12; ++i) EXPECT(numbers.at(i), want_rare[i]);
    EXPECT(numbers.at(12 + 4), 401);
    EXPECT(numbers.at(12 + 5), 400);

    DeviceArray<int> matrices(192);
    store_matrices<<<1, 32>>>(matrices);
    for (int i = 0; i < 128; ++i) EXPECT(matrices.at(i), i);
    for (int i = 0; i < 64; ++i) EXPECT(matrices.at(128 + i), i % 8 * 8 + i / 8);
    DeviceArray<int> d(128);
    DeviceArray<float> f(16);
    integers<<<1, 1>>>(d);
    const int want[] = {7, 17, 0xbc, -1, 0xf00, 0x04030201, 7, 3, 2};
    for (int i = 0; i < 9; ++i) EXPECT(d.at(i), want[i]);
    EXPECT(d.at(10), 0);

    float* in;
    cudaMallocManaged(&in, 4 * sizeof(float));
    for (int i = 0; i < 4; ++i) in[i] = i + 0.5f;
    floats<<<1, 1>>>(f, in);
    const float want_floats[] = {7, 1, 8, 0.5, 1.5, 2.5, 6.5, 0.5};
    for (int i = 0; i < 8; ++i) EXPECT(f.at(i), want_floats[i]);

    int4* vectors;
    cudaMallocManaged(&vectors, 32 * sizeof(int4));
    for (int i = 0; i < 32; ++i) vectors[i] = make_int4(0, 0, 0, 100 * i);
    copies<<<1, 32>>>(d, vectors);
    EXPECT(d.at(0), 3100);
    EXPECT(d.at(31), 32);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    return failures != 0;
}
