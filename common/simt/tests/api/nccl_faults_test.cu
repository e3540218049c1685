// What makes several GPUs hang: found, named, and over in seconds.
#define TEST_GROUP "nccl_faults"
#include "nccl_watch.h"

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
