// NCCL's collectives against plain loops. A GPU machine may have one device only: then
// the tests have one rank.
#define TEST_GROUP "nccl"
#include "nccl_fixture.h"

namespace {

constexpr size_t kCount = 37;

/// Calls body(rank) for all ranks, in one group.
template <class Body>
void grouped(const Ranks& ranks, Body body) {
    NCCL_OK(ncclGroupStart());
    for (int rank = 0; rank < ranks.size; ++rank)
        NCCL_OK(body(rank));
    NCCL_OK(ncclGroupEnd());
}

/// Runs body(number of ranks) for 1, 2 and 4 of them, as many as there are.
template <class Body>
void with_ranks(Body body) {
    for (const int n : {1, 2, 4})
        if (n <= check::devices()) body(n);
}

template <class T>
void all_reduce(bool in_place) {
    with_ranks([&](int n) {
        Ranks ranks(n);
        for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
            Buffers<T> from(n, kCount), to(n, kCount);
            Buffers<T>& result = in_place ? from : to;
            for (int rank = 0; rank < n; ++rank)
                from.set(rank, values_of<T>(rank, kCount));
            grouped(ranks, [&](int rank) {
                return ncclAllReduce(from.p[rank],
                                     result.p[rank],
                                     kCount,
                                     kType<T>,
                                     op,
                                     ranks.comms[rank],
                                     ranks.streams[rank]);
            });
            ranks.synchronize();
            for (int rank = 0; rank < n; ++rank)
                EXPECT(all_are(result.get(rank),
                               [&](size_t i) { return combined(op, n, i); }));
        }
    });
}

template <class T>
void all_reduce() {
    all_reduce<T>(false);
    all_reduce<T>(true);
}

__global__ void fill(float* x, int n, float value) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = value;
}

}  // namespace

TEST(all_reduce_of_whole_numbers) {
    all_reduce<signed char>();
    all_reduce<unsigned char>();
    all_reduce<int>();
    all_reduce<unsigned>();
    all_reduce<long long>();
    all_reduce<unsigned long long>();
}

TEST(all_reduce_of_floats) {
    all_reduce<float>();
    all_reduce<double>();
    all_reduce<__half>();
    all_reduce<__nv_bfloat16>();
}

TEST(reduce_gives_to_one) {
    with_ranks([](int n) {
        Ranks ranks(n);
        const int root = n - 1;
        Buffers<float> from(n, kCount), to(n, kCount);
        for (int rank = 0; rank < n; ++rank) {
            from.set(rank, values_of<float>(rank, kCount));
            to.set(rank, std::vector<float>(kCount, -1));
        }
        grouped(ranks, [&](int rank) {
            return ncclReduce(from.p[rank],
                              rank == root ? to.p[rank] : nullptr,
                              kCount,
                              ncclFloat,
                              ncclSum,
                              root,
                              ranks.comms[rank],
                              ranks.streams[rank]);
        });
        ranks.synchronize();
        for (int rank = 0; rank < n; ++rank)
            EXPECT(all_are(to.get(rank), [&](size_t i) {
                return rank == root ? combined(ncclSum, n, i) : -1;
            }));
    });
}

TEST(broadcast_from_one) {
    with_ranks([](int n) {
        Ranks ranks(n);
        const int root = n / 2;
        Buffers<__half> from(n, kCount), to(n, kCount);
        for (int rank = 0; rank < n; ++rank)
            from.set(rank, values_of<__half>(rank, kCount));
        grouped(ranks, [&](int rank) {
            return ncclBroadcast(from.p[rank],
                                 to.p[rank],
                                 kCount,
                                 ncclHalf,
                                 root,
                                 ranks.comms[rank],
                                 ranks.streams[rank]);
        });
        ranks.synchronize();
        for (int rank = 0; rank < n; ++rank)
            EXPECT(all_are(to.get(rank), [&](size_t i) { return value_of(root, i); }));
        // In place, into what the ranks had.
        grouped(ranks, [&](int rank) {
            return ncclBcast(from.p[rank],
                             kCount,
                             ncclHalf,
                             root,
                             ranks.comms[rank],
                             ranks.streams[rank]);
        });
        ranks.synchronize();
        for (int rank = 0; rank < n; ++rank)
            EXPECT(
                all_are(from.get(rank), [&](size_t i) { return value_of(root, i); }));
    });
}

TEST(all_gather_puts_ranks_in_a_row) {
    with_ranks([](int n) {
        for (const bool in_place : {false, true}) {
            Ranks ranks(n);
            Buffers<int> from(n, kCount), to(n, kCount * n);
            for (int rank = 0; rank < n; ++rank) {
                from.set(rank, values_of<int>(rank, kCount));
                OK(cudaMemcpy(to.p[rank] + rank * kCount,
                              from.p[rank],
                              kCount * sizeof(int),
                              cudaMemcpyDefault));
            }
            grouped(ranks, [&](int rank) {
                return ncclAllGather(
                    in_place ? to.p[rank] + rank * kCount : from.p[rank],
                    to.p[rank],
                    kCount,
                    ncclInt,
                    ranks.comms[rank],
                    ranks.streams[rank]);
            });
            ranks.synchronize();
            for (int rank = 0; rank < n; ++rank)
                EXPECT(all_are(to.get(rank), [&](size_t i) {
                    return value_of(static_cast<int>(i / kCount), i % kCount);
                }));
        }
    });
}

TEST(reduce_scatter_gives_each_a_part) {
    with_ranks([](int n) {
        for (const bool in_place : {false, true}) {
            Ranks ranks(n);
            Buffers<double> from(n, kCount * n), to(n, kCount);
            for (int rank = 0; rank < n; ++rank)
                from.set(rank, values_of<double>(rank, kCount * n));
            grouped(ranks, [&](int rank) {
                return ncclReduceScatter(
                    from.p[rank],
                    in_place ? from.p[rank] + rank * kCount : to.p[rank],
                    kCount,
                    ncclDouble,
                    ncclSum,
                    ranks.comms[rank],
                    ranks.streams[rank]);
            });
            ranks.synchronize();
            for (int rank = 0; rank < n; ++rank) {
                std::vector<double> got = to.get(rank);
                if (in_place) {
                    const std::vector<double> all = from.get(rank);
                    got.assign(all.begin() + rank * kCount,
                               all.begin() + (rank + 1) * kCount);
                }
                EXPECT(all_are(got, [&](size_t i) {
                    return combined(ncclSum, n, rank * kCount + i);
                }));
            }
        }
    });
}

TEST(a_ring_of_sends_and_receives) {
    with_ranks([](int n) {
        Ranks ranks(n);
        Buffers<float> from(n, kCount), to(n, kCount);
        for (int rank = 0; rank < n; ++rank)
            from.set(rank, values_of<float>(rank, kCount));
        for (int round = 0; round < 2; ++round) {
            NCCL_OK(ncclGroupStart());
            for (int rank = 0; rank < n; ++rank) {
                NCCL_OK(ncclSend(from.p[rank],
                                 kCount,
                                 ncclFloat,
                                 (rank + 1) % n,
                                 ranks.comms[rank],
                                 ranks.streams[rank]));
                NCCL_OK(ncclRecv(to.p[rank],
                                 kCount,
                                 ncclFloat,
                                 (rank + n - 1) % n,
                                 ranks.comms[rank],
                                 ranks.streams[rank]));
            }
            NCCL_OK(ncclGroupEnd());
        }
        ranks.synchronize();
        for (int rank = 0; rank < n; ++rank)
            EXPECT(all_are(to.get(rank),
                           [&](size_t i) { return value_of((rank + n - 1) % n, i); }));
    });
}

TEST(kernels_and_collectives_take_turns_in_a_stream) {
    const int n = check::devices() < 2 ? 1 : 2;
    Ranks ranks(n);
    Buffers<float> x(n, kCount);
    for (int round = 1; round <= 3; ++round) {
        for (int rank = 0; rank < n; ++rank) {
            OK(cudaSetDevice(rank));
            fill<<<1, 32, 0, ranks.streams[rank]>>>(
                x.p[rank], kCount, static_cast<float>(round * (rank + 1)));
        }
        grouped(ranks, [&](int rank) {
            return ncclAllReduce(x.p[rank],
                                 x.p[rank],
                                 kCount,
                                 ncclFloat,
                                 ncclSum,
                                 ranks.comms[rank],
                                 ranks.streams[rank]);
        });
    }
    ranks.synchronize();
    for (int rank = 0; rank < n; ++rank)
        EXPECT(all_are(x.get(rank), [&](size_t) { return 3 * n * (n + 1) / 2; }));
}

TEST(a_host_thread_for_each_rank) {
    const int n = check::devices();
#ifdef SIMT_CPU
    simt::set_devices(n);
#endif
    ncclUniqueId id;
    NCCL_OK(ncclGetUniqueId(&id));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < n; ++rank)
        threads.emplace_back([=] {
            OK(cudaSetDevice(rank));
            ncclComm_t comm;
            NCCL_OK(ncclCommInitRank(&comm, n, id, rank));
            int got = -1;
            NCCL_OK(ncclCommCount(comm, &got));
            EXPECT(got == n);
            NCCL_OK(ncclCommUserRank(comm, &got));
            EXPECT(got == rank);
            NCCL_OK(ncclCommCuDevice(comm, &got));
            EXPECT(got == rank);
            cudaStream_t stream;
            OK(cudaStreamCreate(&stream));
            float* x = nullptr;
            OK(cudaMalloc(&x, kCount * sizeof(float)));
            for (int round = 0; round < 10; ++round) {
                fill<<<1, 32, 0, stream>>>(x, kCount, static_cast<float>(rank + round));
                NCCL_OK(ncclAllReduce(x, x, kCount, ncclFloat, ncclSum, comm, stream));
            }
            std::vector<float> result(kCount);
            OK(cudaMemcpyAsync(
                result.data(), x, kCount * sizeof(float), cudaMemcpyDefault, stream));
            OK(cudaStreamSynchronize(stream));
            EXPECT(all_are(result, [&](size_t) { return n * (n - 1) / 2 + 9 * n; }));
            ncclResult_t error = ncclInProgress;
            NCCL_OK(ncclCommGetAsyncError(comm, &error));
            EXPECT(error == ncclSuccess);
            NCCL_OK(ncclCommFinalize(comm));
            NCCL_OK(ncclCommDestroy(comm));
            OK(cudaFree(x));
            OK(cudaStreamDestroy(stream));
        });
    for (std::thread& thread : threads)
        thread.join();
#ifdef SIMT_CPU
    simt::set_devices(1);
#endif
}

TEST(one_thread_makes_ranks_in_a_group) {
    const int n = check::devices();
#ifdef SIMT_CPU
    simt::set_devices(n);
#endif
    ncclUniqueId id;
    NCCL_OK(ncclGetUniqueId(&id));
    std::vector<ncclComm_t> comms(n);
    NCCL_OK(ncclGroupStart());
    for (int rank = 0; rank < n; ++rank) {
        OK(cudaSetDevice(rank));
        NCCL_OK(ncclCommInitRank(&comms[rank], n, id, rank));
    }
    NCCL_OK(ncclGroupEnd());
    for (const ncclComm_t comm : comms)
        NCCL_OK(ncclCommDestroy(comm));
    OK(cudaSetDevice(0));
#ifdef SIMT_CPU
    simt::set_devices(1);
#endif
}

TEST(arguments_that_are_refused) {
    Ranks ranks(1);
    Buffers<float> x(1, kCount);
    const ncclComm_t comm = ranks.comms[0];
    const cudaStream_t s = ranks.streams[0];
    float* p = x.p[0];
    EXPECT_NCCL(ncclInvalidArgument,
                ncclAllReduce(p, p, 1, ncclFloat, ncclSum, nullptr, s));
    EXPECT_NCCL(ncclInvalidArgument,
                ncclAllReduce(p, p, 1, ncclNumTypes, ncclSum, comm, s));
    EXPECT_NCCL(ncclInvalidArgument,
                ncclAllReduce(p, p, 1, ncclFloat, ncclNumOps, comm, s));
    EXPECT_NCCL(ncclInvalidArgument, ncclBcast(p, 1, ncclFloat, 1, comm, s));
    EXPECT_NCCL(ncclInvalidArgument, ncclBcast(p, 1, ncclFloat, -1, comm, s));
    EXPECT_NCCL(ncclInvalidArgument, ncclSend(p, 1, ncclFloat, 7, comm, s));
    EXPECT_NCCL(ncclInvalidUsage, ncclGroupEnd());
    ncclUniqueId id;
    NCCL_OK(ncclGetUniqueId(&id));
    ncclComm_t other = nullptr;
    EXPECT_NCCL(ncclInvalidArgument, ncclCommInitRank(&other, 2, id, 2));
    EXPECT_NCCL(ncclInvalidArgument, ncclCommInitRank(&other, 0, id, 0));
    EXPECT(ncclGetErrorString(ncclInvalidUsage)[0] == 'i');
    int version = 0;
    NCCL_OK(ncclGetVersion(&version));
    EXPECT(version >= 20000);
    // None of these has broken it.
    NCCL_OK(ncclAllReduce(p, p, kCount, ncclFloat, ncclSum, comm, s));
    NCCL_OK(ncclAllReduce(p, p, 0, ncclFloat, ncclSum, comm, s));
}
