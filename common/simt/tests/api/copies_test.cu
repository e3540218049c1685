#define TEST_GROUP "copies"
#include "check.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

/// 1024 ints on the device, with 0, 1, 2, … in them.
struct DeviceInts {
    int* p = nullptr;
    std::vector<int> host = std::vector<int>(1024);
    DeviceInts() {
        std::iota(host.begin(), host.end(), 0);
        cudaMalloc(&p, bytes());
        cudaMemcpy(p, host.data(), bytes(), cudaMemcpyHostToDevice);
    }
    ~DeviceInts() { cudaFree(p); }
    size_t bytes() const { return host.size() * sizeof(int); }
    std::vector<int> get() const {
        std::vector<int> result(host.size());
        cudaMemcpy(result.data(), p, bytes(), cudaMemcpyDeviceToHost);
        return result;
    }
};

}  // namespace

TEST(round_trip) {
    DeviceInts d;
    EXPECT(d.get() == d.host);
    DeviceInts other;
    OK(cudaMemset(other.p, 0, other.bytes()));
    OK(cudaMemcpy(other.p, d.p, d.bytes(), cudaMemcpyDeviceToDevice));
    EXPECT(other.get() == d.host);
    std::vector<int> host(1024);
    OK(cudaMemcpy(host.data(), d.p, d.bytes(), cudaMemcpyDefault));
    EXPECT(host == d.host);
    OK(cudaMemset(d.p, 0, d.bytes()));
    OK(cudaMemcpy(d.p, host.data(), d.bytes(), cudaMemcpyDefault));
    EXPECT(d.get() == host);
    std::vector<int> third(1024);
    OK(cudaMemcpy(third.data(), host.data(), d.bytes(), cudaMemcpyHostToHost));
    EXPECT(third == host);
}

TEST(zero_bytes_are_legal) {
    DeviceInts d;
    OK(cudaMemcpy(d.p, d.host.data(), 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    OK(cudaMemset(d.p, 0, 0));
    OK(cudaMemset(nullptr, 0, 0));
    OK(cudaMemcpyAsync(d.p, d.host.data(), 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(d.p, 4, d.host.data(), 4, 0, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(d.p, 4, d.host.data(), 4, 4, 0, cudaMemcpyHostToDevice));
    EXPECT(d.get() == d.host);
}

TEST(wrong_directions_are_refused) {
    DeviceInts d;
    std::vector<int> host(1024);
    const size_t n = d.bytes();
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(host.data(), d.p, n, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(d.p, host.data(), n, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpy(d.p, host.data(), n, static_cast<cudaMemcpyKind>(7)));
    EXPECT(d.get() == d.host);
}

TEST(directions_of_two_device_pointers) {
    // Only the end that is called "device" is held to it.
    for (const auto kind :
         {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyHostToHost}) {
        DeviceInts a;
        DeviceInts b;
        OK(cudaMemset(a.p, 0, a.bytes()));
        OK(cudaMemcpy(a.p, b.p, a.bytes(), kind));
        EXPECT(a.get() == b.host);
    }
}

TEST(directions_of_two_host_pointers) {
    std::vector<int> a(64);
    std::vector<int> b(64, 7);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(a.data(), b.data(), 256, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(a.data(), b.data(), 256, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(a.data(), b.data(), 256, cudaMemcpyDefault));
    EXPECT(a == b);
}

TEST(null_pointers_are_refused) {
    DeviceInts d;
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(nullptr, d.host.data(), 4, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(d.p, nullptr, 4, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 4));
}

TEST(overruns_are_refused) {
    DeviceInts d;
    std::vector<int> host(4096);
    // Past the allocation by more than any rounding of the allocator.
    const size_t n = size_t(64) << 20;
    std::vector<char> large(n);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(d.p, large.data(), n, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(large.data(), d.p, n, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(d.p, 0, n));
#ifdef SIMT_CPU  // on a GPU, only the end of a larger block is noticed
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(d.p, host.data(), d.bytes() + 1, cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(d.p + 1, host.data(), d.bytes(), cudaMemcpyHostToDevice));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(d.p, 0, d.bytes() + 1));
#endif
    EXPECT(d.get() == d.host);
}

TEST(freed_memory_is_refused) {
    int* p = nullptr;
    const size_t bytes = size_t(64) << 20;
    OK(cudaMalloc(&p, bytes));
    OK(cudaFree(p));
    std::vector<int> host(16);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(host.data(), p, 64, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemcpy(p, host.data(), 64, cudaMemcpyHostToDevice));
}

TEST(memset_fills_with_the_low_byte) {
    DeviceInts d;
    OK(cudaMemset(d.p, 0x1234ab, d.bytes()));
    const std::vector<int> got = d.get();
    EXPECT(static_cast<uint32_t>(got[0]) == 0xabababab);
    EXPECT(static_cast<uint32_t>(got[1023]) == 0xabababab);
    OK(cudaMemset(d.p + 1, 0, 4));
    EXPECT(static_cast<uint32_t>(d.get()[0]) == 0xabababab);
    EXPECT(d.get()[1] == 0);
}

TEST(memset_of_host_memory_is_refused) {
    std::vector<int> host(16);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(host.data(), 0, 64));
    int* pinned = nullptr;
    OK(cudaMallocHost(&pinned, 64));
    pinned[0] = 1;
    OK(cudaMemset(pinned, 0, 64));
    OK(cudaDeviceSynchronize());
    EXPECT(pinned[0] == 0);
    OK(cudaFreeHost(pinned));
}

TEST(rows) {
    DeviceInts d;  // as 32 x 32
    std::vector<int> tile(8 * 4, -1);
    // 8 columns and 4 rows from row 2, column 3.
    OK(cudaMemcpy2D(tile.data(),
                    8 * 4,
                    d.p + 2 * 32 + 3,
                    32 * 4,
                    8 * 4,
                    4,
                    cudaMemcpyDeviceToHost));
    bool right = true;
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 8; ++x)
            right &= tile[y * 8 + x] == (y + 2) * 32 + x + 3;
    EXPECT(right);
    OK(cudaMemset2D(d.p, 32 * 4, 0, 4, 32));  // the first column
    const std::vector<int> got = d.get();
    EXPECT(got[32] == 0 && got[33] == 33 && got[31 * 32] == 0);
    EXPECT_ERROR(
        cudaErrorInvalidPitchValue,
        cudaMemcpy2D(tile.data(), 16, d.p, 128, 32, 4, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidPitchValue,
                 cudaMemcpy2D(tile.data(), 32, d.p, 16, 32, 4, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset2D(d.p, 16, 0, 32, 4));
}

TEST(rows_asynchronously) {
    DeviceInts d;
    std::vector<int> host(1024);
    OK(cudaMemcpy2DAsync(
        host.data(), 128, d.p, 128, 128, 32, cudaMemcpyDeviceToHost, 0));
    OK(cudaMemset2DAsync(d.p, 128, 0xff, 128, 32, 0));
    OK(cudaStreamSynchronize(0));
    EXPECT(host == d.host);
    EXPECT(d.get()[100] == -1);
}

TEST(boxes) {
    cudaPitchedPtr box;
    const cudaExtent extent = make_cudaExtent(5 * sizeof(int), 4, 3);
    OK(cudaMalloc3D(&box, extent));
    std::vector<int> host(5 * 4 * 3);
    std::iota(host.begin(), host.end(), 0);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host.data(), 5 * sizeof(int), 5, 4);
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    // One column of 1 x 2 x 2 from (1, 1, 1).
    std::vector<int> part(4, -1);
    cudaMemcpy3DParms back = {};
    back.srcPtr = box;
    back.srcPos = make_cudaPos(sizeof(int), 1, 1);
    back.dstPtr = make_cudaPitchedPtr(part.data(), sizeof(int), 1, 2);
    back.extent = make_cudaExtent(sizeof(int), 2, 2);
    back.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&back, 0));
    OK(cudaStreamSynchronize(0));
    EXPECT(part == std::vector<int>({26, 31, 46, 51}));
    OK(cudaFree(box.ptr));
}

TEST(peers_of_the_same_device) {
    DeviceInts a;
    DeviceInts b;
    OK(cudaMemset(b.p, 0, b.bytes()));
    OK(cudaMemcpyPeer(b.p, 0, a.p, 0, a.bytes()));
    EXPECT(b.get() == a.host);
    OK(cudaMemcpyPeerAsync(b.p, 0, a.p, 0, 4, 0));
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemcpyPeer(b.p, 99, a.p, 0, 4));
}

__global__ void nothing() {}

TEST(an_invalid_stream_is_refused) {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamDestroy(stream));
#ifdef SIMT_CPU  // on a GPU a destroyed handle may crash
    DeviceInts d;
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaMemsetAsync(d.p, 0, 4, stream));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    nothing<<<1, 1, 0, stream>>>();
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaGetLastError());
#endif
}
