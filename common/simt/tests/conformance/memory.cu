// Memory: copies, symbols, managed and pinned memory, what is refused and how.
#include "conformance.h"

#include <cstring>
#include <numeric>

using namespace conformance;

__constant__ float coefficients[4];
__device__ int device_counter = 3;
__device__ float device_table[8];
__managed__ int managed_value = 11;

namespace {

/// Device memory that frees itself.
struct Memory {
    explicit Memory(std::size_t bytes) { ok(cudaMalloc(&p, bytes)); }
    ~Memory() { cudaFree(p); }
    char* p = nullptr;
};

}  // namespace

CONFORMANCE(copies_to_the_device_and_back) {
    std::vector<int> in(1000), out(1000);
    std::iota(in.begin(), in.end(), 5);
    Memory d(4000);
    ok(cudaMemcpy(d.p, in.data(), 4000, cudaMemcpyHostToDevice));
    ok(cudaMemcpy(out.data(), d.p, 4000, cudaMemcpyDeviceToHost));
    require(in == out, "the values changed");
}

CONFORMANCE(copies_between_device_arrays) {
    Memory a(64), b(64);
    ok(cudaMemset(a.p, 0x5a, 64));
    ok(cudaMemcpy(b.p, a.p, 64, cudaMemcpyDeviceToDevice));
    unsigned char host[64];
    ok(cudaMemcpy(host, b.p, 64, cudaMemcpyDefault));
    for (const unsigned char byte : host)
        expect_equal(int(byte), 0x5a);
}

CONFORMANCE(allocations_are_aligned_to_256_bytes) {
    Memory a(1), b(100), c(4096);
    for (const char* p : {a.p, b.p, c.p}) {
        require(reinterpret_cast<std::uintptr_t>(p) % 256 == 0, "not aligned");
    }
}

CONFORMANCE(zero_bytes_are_legal) {
    void* p = &p;
    ok(cudaMalloc(&p, 0));
    require(p == nullptr, "cudaMalloc of 0 bytes gives null");
    ok(cudaFree(nullptr));
    ok(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
}

CONFORMANCE(freeing_twice_is_an_error) {
    void* p = nullptr;
    ok(cudaMalloc(&p, 64));
    ok(cudaFree(p));
    expect_error(cudaFree(p), cudaErrorInvalidValue);
}

CONFORMANCE(freeing_the_middle_is_an_error) {
    Memory d(64);
    expect_error(cudaFree(d.p + 16), cudaErrorInvalidValue);
}

CONFORMANCE(far_too_much_memory_is_refused) {
    void* p = nullptr;
    expect_error(cudaMalloc(&p, std::size_t{1} << 46), cudaErrorMemoryAllocation);
}

CONFORMANCE(copying_past_the_end_is_refused) {
    Memory d(64);
    std::vector<char> host(1 << 24);
    expect_error(cudaMemcpy(d.p, host.data(), host.size(), cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
}

CONFORMANCE(a_wrong_direction_is_refused) {
    Memory d(64);
    char host[64] = {};
    expect_error(cudaMemcpy(host, d.p, 64, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
    expect_error(cudaMemcpy(d.p, host, 64, static_cast<cudaMemcpyKind>(9)),
                 cudaErrorInvalidMemcpyDirection);
}

CONFORMANCE(null_arguments_are_refused) {
    expect_error(cudaMalloc(static_cast<void**>(nullptr), 16), cudaErrorInvalidValue);
    expect_error(cudaMemset(nullptr, 0, 16), cudaErrorInvalidValue);
}

CONFORMANCE(constant_memory_is_filled_from_the_host) {
    const float host[4] = {1.0f, 2.0f, 4.0f, 8.0f};
    ok(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    const auto got = run<float>(1, 4, 4, [] __device__(float* out) {
        out[threadIdx.x] = coefficients[threadIdx.x] * 0.5f;
    });
    expect_each(got, [&](int i) { return host[i] * 0.5f; });
}

CONFORMANCE(symbols_are_written_at_an_offset) {
    const float value = 9.5f;
    ok(cudaMemcpyToSymbol(device_table, &value, sizeof value, 3 * sizeof(float)));
    float back = 0.0f;
    ok(cudaMemcpyFromSymbol(&back, device_table, sizeof back, 3 * sizeof(float)));
    expect_equal(back, 9.5f);
    expect_equal(run_one<float>([] __device__(float* out) { *out = device_table[3]; }),
                 9.5f);
}

CONFORMANCE(device_variables_keep_their_initial_value) {
    const int seen = run_one<int>([] __device__(int* out) {
        *out = device_counter;
        device_counter = 4;
    });
    expect_equal(seen, 3);
    int now = 0;
    ok(cudaMemcpyFromSymbol(&now, device_counter, sizeof now));
    expect_equal(now, 4);
}

CONFORMANCE(symbols_have_an_address_and_a_size) {
    void* address = nullptr;
    std::size_t size = 0;
    ok(cudaGetSymbolAddress(&address, device_table));
    ok(cudaGetSymbolSize(&size, device_table));
    expect_equal(size, 8 * sizeof(float));
    ok(cudaMemset(address, 0, size));
}

CONFORMANCE(managed_variables_are_shared_with_the_host) {
    managed_value = 20;
    expect_equal(run_one<int>([] __device__(int* out) { *out = ++managed_value; }), 21);
    expect_equal(managed_value, 21);
}

CONFORMANCE(managed_memory_is_written_by_both_sides) {
    int* data = nullptr;
    ok(cudaMallocManaged(&data, 32 * sizeof(int)));
    for (int i = 0; i < 32; ++i)
        data[i] = i;
    run_kernel<<<1, 32>>>(data, [] __device__(int* out) { out[threadIdx.x] *= 2; });
    ok(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i)
        expect_equal(data[i], 2 * i);
    ok(cudaFree(data));
}

CONFORMANCE(pinned_memory_is_read_by_kernels) {
    int* host = nullptr;
    ok(cudaHostAlloc(&host, 32 * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < 32; ++i)
        host[i] = 3 * i;
    int* mapped = nullptr;
    ok(cudaHostGetDevicePointer(&mapped, host, 0));
    const auto got = run<int>(1, 32, 32, [=] __device__(int* out) {
        out[threadIdx.x] = mapped[threadIdx.x];
    });
    expect_each(got, [](int i) { return 3 * i; });
    ok(cudaFreeHost(host));
}

CONFORMANCE(pointers_tell_what_they_point_to) {
    Memory d(64);
    cudaPointerAttributes attributes{};
    ok(cudaPointerGetAttributes(&attributes, d.p + 5));
    expect_equal(int(attributes.type), int(cudaMemoryTypeDevice));
    int host = 0;
    ok(cudaPointerGetAttributes(&attributes, &host));
    expect_equal(int(attributes.type), int(cudaMemoryTypeUnregistered));
    int* pinned = nullptr;
    ok(cudaMallocHost(&pinned, 64));
    ok(cudaPointerGetAttributes(&attributes, pinned));
    expect_equal(int(attributes.type), int(cudaMemoryTypeHost));
    ok(cudaFreeHost(pinned));
    ok(cudaMallocManaged(&pinned, 64));
    ok(cudaPointerGetAttributes(&attributes, pinned));
    expect_equal(int(attributes.type), int(cudaMemoryTypeManaged));
    ok(cudaFree(pinned));
}

CONFORMANCE(two_dimensional_copies_skip_the_padding) {
    constexpr int kRows = 5, kCols = 7;
    char* d = nullptr;
    std::size_t pitch = 0;
    ok(cudaMallocPitch(reinterpret_cast<void**>(&d), &pitch, kCols, kRows));
    require(pitch >= kCols && pitch % 32 == 0, "the pitch is too small or not aligned");
    char in[kRows * kCols], out[kRows * kCols] = {};
    for (int i = 0; i < kRows * kCols; ++i)
        in[i] = char(i);
    ok(cudaMemcpy2D(d, pitch, in, kCols, kCols, kRows, cudaMemcpyHostToDevice));
    ok(cudaMemcpy2D(out, kCols, d, pitch, kCols, kRows, cudaMemcpyDeviceToHost));
    require(std::memcmp(in, out, sizeof in) == 0, "the values changed");
    ok(cudaFree(d));
}

CONFORMANCE(two_dimensional_memset) {
    Memory d(64);
    ok(cudaMemset(d.p, 0, 64));
    ok(cudaMemset2D(d.p, 16, 1, 4, 4));
    unsigned char host[64];
    ok(cudaMemcpy(host, d.p, 64, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; ++i)
        expect_equal(int(host[i]), i % 16 < 4 ? 1 : 0);
}

CONFORMANCE(memory_of_a_pool) {
    int* p = nullptr;
    cudaStream_t stream = nullptr;
    ok(cudaStreamCreate(&stream));
    ok(cudaMallocAsync(reinterpret_cast<void**>(&p), 128, stream));
    ok(cudaMemsetAsync(p, 0xff, 128, stream));
    int value = 0;
    ok(cudaMemcpyAsync(&value, p, 4, cudaMemcpyDeviceToHost, stream));
    ok(cudaFreeAsync(p, stream));
    ok(cudaStreamSynchronize(stream));
    expect_equal(value, -1);
    ok(cudaStreamDestroy(stream));
}

CONFORMANCE(memory_of_a_capture_is_none_yet) {
    void* p = nullptr;
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    ok(cudaStreamCreate(&stream));
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    ok(cudaMallocAsync(&p, 128, stream));
    cudaPointerAttributes attributes{};
    ok(cudaPointerGetAttributes(&attributes, p));
    ok(cudaFreeAsync(p, stream));
    ok(cudaStreamEndCapture(stream, &graph));
    ok(cudaGraphDestroy(graph));
    ok(cudaStreamDestroy(stream));
    expect_equal(int(attributes.type), int(cudaMemoryTypeUnregistered));
}

CONFORMANCE(free_memory_is_reported) {
    std::size_t available = 0, total = 0;
    ok(cudaMemGetInfo(&available, &total));
    require(available > 0 && available <= total, "more free than there is");
}

CONFORMANCE(device_side_new_and_delete) {
    const int got = run_one<int>([] __device__(int* out) {
        int* p = new int[10];
        for (int i = 0; i < 10; ++i)
            p[i] = i;
        *out = p[9] + p[1];
        delete[] p;
    });
    expect_equal(got, 10);
}
