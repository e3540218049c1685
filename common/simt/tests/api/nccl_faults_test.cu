// What makes several GPUs hang, or mixes their data: found, named, and over in seconds.
#define TEST_GROUP "nccl_faults"
#include "nccl_fixture.h"

#include <chrono>
#include <mutex>
#include <string>

#include "simt/finding.h"
#include "simt/nccl_limit.h"
#include "simt/streams.h"

namespace {

constexpr size_t kSize = 16;

std::mutex g_mutex;
std::vector<simt::Finding> g_findings;

/// The text with communicators numbered from 1 in the order in which it names them.
std::string renumbered(const std::string& text) {
    std::string result;
    std::vector<std::string> seen;
    size_t from = 0;
    const std::string word = "communicator ";
    for (;;) {
        const size_t at = text.find(word, from);
        if (at == text.npos) break;
        const size_t digits = at + word.size();
        const size_t end = text.find_first_not_of("0123456789", digits);
        result += text.substr(from, digits - from);
        from = digits;
        if (end == digits) continue;
        const std::string number = text.substr(digits, end - digits);
        size_t index = 0;
        while (index < seen.size() && seen[index] != number)
            ++index;
        if (index == seen.size()) seen.push_back(number);
        result += std::to_string(index + 1);
        from = end == text.npos ? text.size() : end;
    }
    return result + text.substr(from);
}

/// What a finding says is wrong, without how it is fixed.
std::string text_of(const simt::Finding& f) {
    return renumbered(f.text.substr(0, f.text.find("\n    Usual fix: ")));
}

/// Gathers what is found while it lives.
struct Watch {
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    Watch() {
        simt::set_nccl_limit(1);
        g_findings.clear();
        simt::on_finding([](const simt::Finding& f) {
            const std::lock_guard lock(g_mutex);
            g_findings.push_back(f);
        });
    }
    ~Watch() {
        simt::on_finding(nullptr);
        simt::set_nccl_limit(8);
        const std::chrono::duration<double> seconds =
            std::chrono::steady_clock::now() - begin;
        EXPECT(seconds.count() < 10);
    }
    /// Whether just this was found.
    bool found(simt::FindingKind kind, const std::string& text) const {
        if (g_findings.size() == 1 && g_findings[0].kind == kind &&
            text_of(g_findings[0]) == text)
            return true;
        std::printf("    expected: %s\n", text.c_str());
        for (const simt::Finding& f : g_findings)
            std::printf("    found:    %s: %s\n", kind_name(f.kind), f.text.c_str());
        return false;
    }
};

/// The asynchronous error of a rank.
ncclResult_t error_of(ncclComm_t comm) {
    ncclResult_t error = ncclInProgress;
    NCCL_OK(ncclCommGetAsyncError(comm, &error));
    return error;
}

/// What was said last.
std::string last_error(ncclComm_t comm = nullptr) {
    return renumbered(ncclGetLastError(comm));
}

struct Two : Ranks {
    Buffers<float> x;
    Two() : Ranks(2), x(2, kSize) {
        for (int rank = 0; rank < 2; ++rank)
            x.set(rank, values_of<float>(rank, kSize));
    }
    ncclResult_t all_reduce(int rank, size_t count = kSize) {
        return ncclAllReduce(x.p[rank],
                             x.p[rank],
                             count,
                             ncclFloat,
                             ncclSum,
                             comms[rank],
                             streams[rank]);
    }
};

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

TEST(different_calls_at_the_same_place) {
    const Watch watch;
    Two two;
    NCCL_OK(ncclGroupStart());
    NCCL_OK(two.all_reduce(0));
    NCCL_OK(ncclBcast(two.x.p[1], kSize, ncclFloat, 0, two.comms[1], two.streams[1]));
    EXPECT_NCCL(ncclInvalidUsage, ncclGroupEnd());
    EXPECT(watch.found(simt::FindingKind::deadlock,
                       "collectives in different orders: call 1 of communicator 1 is "
                       "ncclBcast on rank 1, and ncclAllReduce on rank 0"));
    EXPECT(error_of(two.comms[0]) == ncclInvalidUsage);
    EXPECT(error_of(two.comms[1]) == ncclInvalidUsage);
    // The device is well, and what the ranks had is as it was.
    two.synchronize();
    EXPECT(all_are(two.x.get(0), [](size_t i) { return value_of(0, i); }));
}

TEST(two_communicators_in_different_orders) {
    const Watch watch;
    Two two;
    ncclComm_t other[2];
    NCCL_OK(ncclCommInitAll(other, 2, nullptr));
    const auto queue = [&](ncclComm_t* comms, int rank) {
        NCCL_OK(ncclGroupStart());
        NCCL_OK(ncclBcast(
            two.x.p[rank], kSize, ncclFloat, 0, comms[rank], two.streams[rank]));
        NCCL_OK(ncclGroupEnd());
    };
    queue(two.comms.data(), 0);
    queue(other, 0);
    queue(other, 1);
    queue(two.comms.data(), 1);
    two.synchronize();
    EXPECT(watch.found(
        simt::FindingKind::deadlock,
        "DEADLOCK: collectives wait for each other, and none can go on\n"
        "    ncclBcast, call 1 of communicator 1 (2 ranks): rank 0 waits in it; rank 1 "
        "is to come to it after ncclBcast, call 1 of communicator 2 (2 ranks)\n"
        "    ncclBcast, call 1 of communicator 2 (2 ranks): rank 0 is to come to it "
        "after ncclBcast, call 1 of communicator 1 (2 ranks); rank 1 waits in it"));
    EXPECT(error_of(two.comms[1]) == ncclInvalidUsage);
    EXPECT(error_of(other[0]) == ncclInvalidUsage);
    for (const ncclComm_t comm : other)
        NCCL_OK(ncclCommDestroy(comm));
}

TEST(sends_that_wait_for_each_other) {
    const Watch watch;
    Two two;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank)
        threads.emplace_back([&, rank] {
            OK(cudaSetDevice(rank));
            const ncclComm_t comm = two.comms[rank];
            const cudaStream_t stream = two.streams[rank];
            NCCL_OK(ncclSend(two.x.p[rank], 4, ncclFloat, 1 - rank, comm, stream));
            NCCL_OK(ncclRecv(two.x.p[rank] + 8, 4, ncclFloat, 1 - rank, comm, stream));
        });
    for (std::thread& thread : threads)
        thread.join();
    two.synchronize();
    EXPECT(g_findings.size() == 1);
    EXPECT(g_findings[0].kind == simt::FindingKind::deadlock);
    const std::string text = text_of(g_findings[0]);
    EXPECT(text.starts_with(
        "DEADLOCK: collectives wait for each other, and none can go on\n    nccl"));
    EXPECT(
        text.find("from rank 0 to rank 1, number 1 of communicator 1 (2 ranks): rank "
                  "0 waits in it; rank 1 is to come to it after nccl") != text.npos);
    EXPECT(g_findings[0].advice.find("ncclGroupStart()") != text.npos);
}

TEST(a_missing_group) {
    const Watch watch;
    Two two;
    NCCL_OK(two.all_reduce(0));
    EXPECT_NCCL(ncclInvalidUsage, two.all_reduce(1));
    EXPECT(watch.found(simt::FindingKind::fault,
                       "ncclAllReduce, call 1 of communicator 1 (2 ranks): one host "
                       "thread calls for rank 0 and rank 1 without ncclGroupStart"));
}

TEST(a_rank_that_never_comes) {
    const Watch watch;
    Two two;
    NCCL_OK(two.all_reduce(0));
    OK(cudaStreamSynchronize(two.streams[0]));  // in NCCL for ever
    EXPECT(watch.found(simt::FindingKind::deadlock,
                       "a collective waits for a rank that does not come: nothing has "
                       "moved for 1 s\n"
                       "    ncclAllReduce, call 1 of communicator 1 (2 ranks): rank 0 "
                       "waits in it; rank 1 has not called it"));
    EXPECT(error_of(two.comms[0]) == ncclRemoteError);
    EXPECT(error_of(two.comms[1]) == ncclRemoteError);
    EXPECT(last_error(two.comms[1]) == text_of(g_findings[0]));
    EXPECT_NCCL(ncclRemoteError, two.all_reduce(1));
}

TEST(a_rank_whose_host_thread_waits) {
    const Watch watch;
    Two two;
    NCCL_OK(ncclGroupStart());
    NCCL_OK(two.all_reduce(0));
    NCCL_OK(two.all_reduce(1));
    NCCL_OK(ncclGroupEnd());
    NCCL_OK(two.all_reduce(0));
    OK(cudaStreamSynchronize(two.streams[0]));
    EXPECT(watch.found(simt::FindingKind::deadlock,
                       "DEADLOCK: a collective waits for a rank whose host thread "
                       "waits\n"
                       "    ncclAllReduce, call 2 of communicator 1 (2 ranks): rank 0 "
                       "waits in it; rank 1 has not called it"));
    EXPECT(g_findings[0].advice.find("ncclGroupStart()") != std::string::npos);
}

TEST(a_rank_that_dies_while_others_poll) {
    const Watch watch;
    Two two;
    std::thread([&] {
        OK(cudaSetDevice(1));
        NCCL_OK(ncclGroupStart());
        NCCL_OK(two.all_reduce(0));
        NCCL_OK(two.all_reduce(1));
        NCCL_OK(ncclGroupEnd());
    }).join();
    NCCL_OK(two.all_reduce(0));
    ncclResult_t error = ncclSuccess;
    while (cudaStreamQuery(two.streams[0]) == cudaErrorNotReady && error == ncclSuccess)
        error = error_of(two.comms[0]);
    EXPECT(error_of(two.comms[0]) == ncclRemoteError);
    EXPECT(g_findings.size() == 1);
}

TEST(arguments_that_differ) {
    const auto differ = [](const char* what, auto second) {
        const Watch watch;
        Two two;
        NCCL_OK(ncclGroupStart());
        NCCL_OK(ncclReduce(two.x.p[0],
                           two.x.p[0],
                           kSize,
                           ncclFloat,
                           ncclSum,
                           0,
                           two.comms[0],
                           two.streams[0]));
        NCCL_OK(second(two.x.p[1], two.comms[1], two.streams[1]));
        EXPECT_NCCL(ncclInvalidUsage, ncclGroupEnd());
        EXPECT(watch.found(simt::FindingKind::fault,
                           std::string("ncclReduce, call 1 of communicator 1 (2 "
                                       "ranks): rank 1 has ") +
                               what));
    };
    differ("15 elements, and rank 0 has 16", [](float* x, ncclComm_t c, auto s) {
        return ncclReduce(x, x, 15, ncclFloat, ncclSum, 0, c, s);
    });
    differ("ncclInt32, and rank 0 has ncclFloat32", [](float* x, ncclComm_t c, auto s) {
        return ncclReduce(x, x, kSize, ncclInt, ncclSum, 0, c, s);
    });
    differ("ncclMax, and rank 0 has ncclSum", [](float* x, ncclComm_t c, auto s) {
        return ncclReduce(x, x, kSize, ncclFloat, ncclMax, 0, c, s);
    });
    differ("root 1, and rank 0 has root 0", [](float* x, ncclComm_t c, auto s) {
        return ncclReduce(x, x, kSize, ncclFloat, ncclSum, 1, c, s);
    });
}

TEST(a_send_and_a_receive_that_differ) {
    const Watch watch;
    Two two;
    NCCL_OK(ncclGroupStart());
    NCCL_OK(ncclSend(two.x.p[0], 4, ncclFloat, 1, two.comms[0], two.streams[0]));
    NCCL_OK(ncclRecv(two.x.p[1], 8, ncclFloat, 0, two.comms[1], two.streams[1]));
    EXPECT_NCCL(ncclInvalidUsage, ncclGroupEnd());
    EXPECT(watch.found(simt::FindingKind::fault,
                       "ncclSend from rank 0 to rank 1, number 1 of communicator 1 (2 "
                       "ranks): rank 1 has 8 elements, and rank 0 has 4"));
}

TEST(a_communicator_that_was_destroyed) {
    const Watch watch;
    Two two;
    const ncclComm_t gone = two.comms[1];
    NCCL_OK(ncclCommDestroy(gone));
    two.comms[1] = nullptr;
    EXPECT_NCCL(ncclInvalidArgument,
                ncclBcast(two.x.p[1], 1, ncclFloat, 0, gone, two.streams[1]));
    EXPECT(last_error() ==
           "ncclBcast: the communicator has been destroyed, or was never made");
    EXPECT_NCCL(ncclInvalidArgument, ncclCommDestroy(gone));
    EXPECT(g_findings.empty());
    // Nor can the other rank do anything without it.
    EXPECT_NCCL(ncclRemoteError, two.all_reduce(0));
    EXPECT(watch.found(simt::FindingKind::deadlock,
                       "ncclAllReduce: rank 1 has destroyed its communicator"));
}

TEST(a_rank_that_aborts) {
    const Watch watch;
    Two two;
    NCCL_OK(two.all_reduce(0));
    NCCL_OK(ncclCommAbort(two.comms[1]));
    two.comms[1] = nullptr;
    OK(cudaStreamSynchronize(two.streams[0]));
    EXPECT(error_of(two.comms[0]) == ncclRemoteError);
    EXPECT(last_error(two.comms[0]) == "rank 1 has aborted its communicator");
    // What was asked for is no finding.
    EXPECT(g_findings.empty());
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

TEST(ranks_that_are_made_without_a_group) {
    const Watch watch;
    simt::set_devices(2);
    ncclUniqueId id;
    NCCL_OK(ncclGetUniqueId(&id));
    ncclComm_t comm = nullptr;
    EXPECT_NCCL(ncclRemoteError, ncclCommInitRank(&comm, 2, id, 0));
    EXPECT(comm == nullptr);
    EXPECT(watch.found(simt::FindingKind::deadlock,
                       "ncclCommInitRank: rank 0 of 2 waits for rank 1, which has not "
                       "come: nothing has moved for 1 s"));
    simt::set_devices(1);
}

TEST(two_ranks_on_one_device) {
    const Watch watch;
    simt::set_devices(2);
    ncclUniqueId id;
    NCCL_OK(ncclGetUniqueId(&id));
    ncclComm_t comms[2] = {};
    NCCL_OK(ncclGroupStart());
    NCCL_OK(ncclCommInitRank(&comms[0], 2, id, 0));
    NCCL_OK(ncclCommInitRank(&comms[1], 2, id, 1));
    EXPECT_NCCL(ncclInvalidUsage, ncclGroupEnd());
    EXPECT(last_error() ==
           "ncclCommInitRank: Duplicate GPU detected: rank 1 and rank 0 both on CUDA "
           "device 0 (cudaSetDevice before the call)");
    EXPECT(comms[0] == nullptr && comms[1] == nullptr);
    EXPECT_NCCL(ncclInvalidArgument, ncclCommInitRank(&comms[0], 3, id, 0));
    EXPECT(last_error() ==
           "ncclCommInitRank: 3 ranks, and there are 2 devices (SIMT_DEVICES)");
    const int twice[2] = {1, 1};
    EXPECT_NCCL(ncclInvalidUsage, ncclCommInitAll(comms, 2, twice));
    EXPECT(last_error() == "ncclCommInitAll: device 1 twice in the list");
    simt::set_devices(1);
}
