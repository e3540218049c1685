// What mixes the data of several GPUs: buffers that are wrong, an event that is
// forgotten, a kernel before a sum that has failed.
#define TEST_GROUP "nccl_buffers"
#include "nccl_watch.h"
#include "simt/streams.h"

namespace {

__global__ void write_to(float* p) {
    *p = 1.0f;
}

}  // namespace

TEST(behind_a_kernel_that_fails_no_deadlock_is_found) {
    const Watch watch;
    auto* const two = new Two;  // not deleted: nothing can be freed any more
    for (int rank = 0; rank < 2; ++rank) {
        OK(cudaSetDevice(rank));
        write_to<<<1, 1, 0, two->streams[rank]>>>(nullptr);
        NCCL_OK(ncclGroupStart());
        (void)two->all_reduce(rank);
        NCCL_OK(ncclGroupEnd());
    }
    EXPECT_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    for (const simt::Finding& f : g_findings)
        EXPECT(f.kind == simt::FindingKind::out_of_bounds);
    EXPECT(!g_findings.empty());
    (void)cudaDeviceReset();
}

TEST(buffers_that_are_wrong) {
    const Watch watch;
    Two two;
    const auto refused = [&](void* buffer, size_t count, const std::string& text) {
        EXPECT_NCCL(
            ncclInvalidArgument,
            ncclBcast(buffer, count, ncclFloat, 1, two.comms[0], two.streams[0]));
        EXPECT(last_error() == "ncclBcast: the receive buffer of rank 0 " + text);
    };
    refused(two.x.p[1], kSize, "is memory of device 1, and the rank is on device 0");
    refused(two.x.p[0],
            kSize + 1,
            "is too short: 68 bytes are needed, and 64 are there (counts are of "
            "elements)");
    refused(nullptr, kSize, "is a null pointer");
    std::vector<float> host(kSize);
    refused(host.data(), kSize, "is ordinary host memory");
    float* freed = nullptr;
    OK(cudaMalloc(&freed, 64));
    OK(cudaFree(freed));
    EXPECT_NCCL(ncclInvalidArgument,
                ncclBcast(freed, 1, ncclFloat, 1, two.comms[0], two.streams[0]));
    EXPECT(last_error().starts_with(
        "ncclBcast: the receive buffer of rank 0 is no live allocation: "));
    EXPECT_NCCL(ncclInvalidArgument,
                ncclAllReduce(two.x.p[0],
                              two.x.p[0] + 1,
                              2,
                              ncclFloat,
                              ncclSum,
                              two.comms[0],
                              two.streams[0]));
    EXPECT(last_error() ==
           "ncclAllReduce: the buffers overlap, but not as the call works in place");
    EXPECT_NCCL(ncclInvalidUsage,
                ncclBcast(two.x.p[0], 1, ncclFloat, 1, two.comms[0], two.streams[1]));
    EXPECT(last_error() ==
           "ncclBcast: the stream belongs to device 1, and rank 0 is on device 0");
    // A refused call spoils its group, and no other one.
    NCCL_OK(ncclGroupStart());
    EXPECT_NCCL(ncclInvalidArgument, two.all_reduce(0, kSize + 1));
    NCCL_OK(two.all_reduce(1, kSize));
    EXPECT_NCCL(ncclInvalidArgument, ncclGroupEnd());
    NCCL_OK(ncclGroupStart());
    NCCL_OK(two.all_reduce(0));
    NCCL_OK(two.all_reduce(1));
    NCCL_OK(ncclGroupEnd());
    two.synchronize();
    EXPECT(all_are(two.x.get(1), [](size_t i) { return combined(ncclSum, 2, i); }));
    EXPECT(g_findings.empty());
}

// The memset of a second stream that no event orders comes before, in or after the
// collective, as the seed has it: wrong data, or a race with words.
TEST(a_forgotten_event) {
    int named = 0, wrong = 0;
    for (unsigned seed = 1; seed <= 24; ++seed) {
        const Watch watch;
        simt::set_stream_seed(seed);
        {
            Two two;
            Buffers<float> to(2, kSize);
            cudaStream_t second;
            OK(cudaSetDevice(0));
            OK(cudaStreamCreate(&second));
            NCCL_OK(ncclGroupStart());
            for (int rank = 0; rank < 2; ++rank)
                NCCL_OK(ncclAllReduce(two.x.p[rank],
                                      to.p[rank],
                                      kSize,
                                      ncclFloat,
                                      ncclSum,
                                      two.comms[rank],
                                      two.streams[rank]));
            NCCL_OK(ncclGroupEnd());
            OK(cudaMemsetAsync(two.x.p[0], 0, kSize * sizeof(float), second));
            OK(cudaDeviceSynchronize());
            two.synchronize();
            wrong +=
                !all_are(to.get(0), [](size_t i) { return combined(ncclSum, 2, i); });
            OK(cudaStreamDestroy(second));
        }
        simt::set_stream_seed(0);
        if (g_findings.empty()) continue;
        ++named;
        EXPECT(watch.found(simt::FindingKind::race,
                           "ncclAllReduce, call 1 of communicator 1 (2 ranks): the "
                           "send buffer of rank 0 was written while the collective "
                           "ran, by work that nothing orders with it"));
    }
    EXPECT(named > 0);
    EXPECT(wrong > 0);
    std::printf("    of 24 seeds: %d named, %d with wrong data\n", named, wrong);
}

TEST(any_order_is_right_where_events_order) {
    const Watch watch;
    for (unsigned seed = 1; seed <= 24; ++seed) {
        simt::set_stream_seed(seed);
        {
            Two two;
            cudaStream_t second;
            cudaEvent_t done;
            OK(cudaSetDevice(0));
            OK(cudaStreamCreate(&second));
            OK(cudaEventCreate(&done));
            NCCL_OK(ncclGroupStart());
            NCCL_OK(two.all_reduce(0));
            NCCL_OK(two.all_reduce(1));
            NCCL_OK(ncclGroupEnd());
            OK(cudaEventRecord(done, two.streams[0]));
            OK(cudaStreamWaitEvent(second, done, 0));
            std::vector<float> got(kSize);
            OK(cudaMemcpyAsync(got.data(),
                               two.x.p[0],
                               kSize * sizeof(float),
                               cudaMemcpyDefault,
                               second));
            OK(cudaStreamSynchronize(second));
            EXPECT(all_are(got, [](size_t i) { return combined(ncclSum, 2, i); }));
            two.synchronize();
            OK(cudaSetDevice(0));
            OK(cudaStreamDestroy(second));
            OK(cudaEventDestroy(done));
        }
        simt::set_stream_seed(0);
    }
    EXPECT(g_findings.empty());
}
