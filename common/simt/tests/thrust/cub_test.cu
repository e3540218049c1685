// cub: cooperation in blocks and warps, algorithms over arrays.
#include <cub/cub.cuh>

#include "thrust_check.h"

namespace {
constexpr int kThreads = 128;
constexpr int kItems = 3;

__global__ void reduce(const int* in, int* out) {
    using BlockReduce = cub::BlockReduce<int, kThreads>;
    __shared__ typename BlockReduce::TempStorage storage;
    int items[kItems];
    cub::LoadDirectStriped<kThreads>(static_cast<int>(threadIdx.x), in, items);
    const int sum = BlockReduce(storage).Sum(items);
    __syncthreads();
    const int largest = BlockReduce(storage).Reduce(items[0], cub::Max());
    __syncthreads();
    const int first_ten = BlockReduce(storage).Sum(items[0], 10);
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = largest;
        out[2] = first_ten;
    }
}

__global__ void scan(const int* in, int* exclusive, int* inclusive, int* total) {
    using BlockScan = cub::BlockScan<int, kThreads>;
    using Load = cub::BlockLoad<int, kThreads, kItems>;
    __shared__ union {
        typename BlockScan::TempStorage scan;
        typename Load::TempStorage load;
    } storage;
    int items[kItems], results[kItems], sum;
    Load(storage.load).Load(in, items);
    __syncthreads();
    BlockScan(storage.scan).ExclusiveSum(items, results, sum);
    cub::StoreDirectBlocked(static_cast<int>(threadIdx.x), exclusive, results);
    __syncthreads();
    BlockScan(storage.scan).InclusiveSum(items, results);
    cub::StoreDirectBlocked(static_cast<int>(threadIdx.x), inclusive, results);
    if (threadIdx.x == 0) *total = sum;
}

__global__ void sort(const int* in, int* out) {
    using BlockSort = cub::BlockRadixSort<int, kThreads, kItems>;
    __shared__ typename BlockSort::TempStorage storage;
    int items[kItems];
    cub::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, items);
    BlockSort(storage).SortDescending(items);
    cub::StoreDirectBlocked(static_cast<int>(threadIdx.x), out, items);
}

/// Elements 0, 1, 2… of each thread, moved to and fro; sums of |wrong places|.
__global__ void exchange(unsigned* wrong) {
    using Exchange = cub::BlockExchange<unsigned, kThreads, kItems>;
    __shared__ typename Exchange::TempStorage storage;
    const unsigned t = threadIdx.x, n = kThreads * kItems;
    unsigned items[kItems], other[kItems], ranks[kItems], sum = 0;
    for (unsigned i = 0; i < kItems; ++i)
        items[i] = t * kItems + i;
    Exchange(storage).BlockedToStriped(items, other);
    for (unsigned i = 0; i < kItems; ++i)
        sum += other[i] != t + i * kThreads;
    __syncthreads();
    Exchange(storage).StripedToBlocked(other);
    __syncthreads();
    Exchange(storage).BlockedToWarpStriped(other);
    for (unsigned i = 0; i < kItems; ++i)
        sum += other[i] != cub::WarpId() * 32 * kItems + cub::LaneId() + 32 * i;
    __syncthreads();
    Exchange(storage).WarpStripedToBlocked(other);
    for (unsigned i = 0; i < kItems; ++i) {
        sum += other[i] != items[i];
        ranks[i] = n - 1 - items[i];
    }
    __syncthreads();
    Exchange(storage).ScatterToBlocked(other, ranks);
    for (unsigned i = 0; i < kItems; ++i)
        sum += other[i] != ranks[i];
    __syncthreads();
    Exchange(storage).ScatterToStriped(items, ranks);
    for (unsigned i = 0; i < kItems; ++i)
        sum += items[i] != n - 1 - (t + i * kThreads);
    atomicAdd(wrong, sum);
}

__global__ void warps(int* sums, int* prefixes) {
    using WarpReduce = cub::WarpReduce<int, 8>;
    using WarpScan = cub::WarpScan<int>;
    __shared__ typename WarpReduce::TempStorage reduce[kThreads / 8];
    __shared__ typename WarpScan::TempStorage scan[kThreads / 32];
    const int t = static_cast<int>(threadIdx.x);
    const int sum = WarpReduce(reduce[t / 8]).Sum(t);
    if (t % 8 == 0) sums[t / 8] = sum;
    WarpScan(scan[t / 32]).InclusiveSum(1, prefixes[t]);
}

__global__ void scans_of_lanes(int* before, int* broadcast) {
    using WarpScan = cub::WarpScan<int, 8>;
    __shared__ typename WarpScan::TempStorage storage[4];
    const int t = static_cast<int>(threadIdx.x);
    WarpScan scan(storage[t / 8]);
    scan.ExclusiveScan(t, before[t], cub::Max());
    broadcast[t] = scan.Broadcast(t, 2);
}

void test_blocks() {
    constexpr int n = kThreads * kItems;
    std::vector<int> values(n), sorted;
    int sum = 0, first_ten = 0, largest = 0;
    for (int i = 0; i < n; ++i) {
        values[i] = i * 7919 % 1000;
        sum += values[i];
        if (i < 10) first_ten += values[i];
        if (i < kThreads) largest = std::max(largest, values[i]);
    }
    const check::Array<int> in(values);
    check::Array<int> out(n), more(n), total(1);
    reduce<<<1, kThreads>>>(in.data(), out.data());
    std::vector<int> got = out.host();
    check::expect(got[0] == sum, "BlockReduce of several items");
    check::expect(got[1] == largest && got[2] == first_ten, "BlockReduce");
    scan<<<1, kThreads>>>(in.data(), out.data(), more.data(), total.data());
    check::expect(total.host()[0] == sum, "BlockScan: the total");
    check::expect(out.host()[5] + values[5] == more.host()[5] &&
                      out.host()[n - 1] == sum - values[n - 1] && out.host()[0] == 0,
                  "BlockScan");
    sort<<<1, kThreads>>>(in.data(), out.data());
    sorted = values;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    check::expect(out.host() == sorted, "BlockRadixSort");
    const check::Array<unsigned> wrong(std::vector<unsigned>{0});
    exchange<<<1, kThreads>>>(wrong.data());
    check::expect(wrong.host()[0] == 0, "BlockExchange");
    warps<<<1, kThreads>>>(out.data(), more.data());
    check::expect(out.host()[1] == 92 && more.host()[63] == 32, "WarpReduce, WarpScan");
    scans_of_lanes<<<1, 32>>>(out.data(), more.data());
    check::expect(out.host()[15] == 14, "WarpScan without an initial value");
    check::expect(more.host()[15] == 10, "WarpScan::Broadcast");
}

/// Calls an algorithm twice, as cub wants it: for the size of its memory, to run it.
template <class Algorithm>
void run(Algorithm algorithm) {
    size_t bytes = 0;
    check::need(algorithm(nullptr, bytes), "size of temporary memory");
    check::Array<char> memory(bytes);
    check::need(algorithm(memory.data(), bytes), "algorithm");
}

void test_device() {
    const check::Array<int> in({4, 1, 1, 3, 3, 3, 9, 0});
    const int* data = in.data();
    check::Array<int> out(8), more(8), count(1);
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceReduce::Sum(memory, bytes, data, count.data(), 8);
    });
    check::expect(count.host()[0] == 24, "DeviceReduce::Sum");
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(memory, bytes, data, out.data(), 8);
    });
    check::expect(out.host() == std::vector<int>{0, 4, 5, 6, 9, 12, 15, 24},
                  "DeviceScan::ExclusiveSum");
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(memory, bytes, data, out.data(), 8);
    });
    check::expect(out.host() == std::vector<int>{0, 1, 1, 3, 3, 3, 4, 9},
                  "DeviceRadixSort::SortKeys");
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceRunLengthEncode::Encode(
            memory, bytes, data, out.data(), more.data(), count.data(), 8);
    });
    check::expect(count.host()[0] == 5 && out.host()[2] == 3 && more.host()[2] == 3,
                  "DeviceRunLengthEncode::Encode");
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceSelect::If(
            memory, bytes, data, out.data(), count.data(), 8, [](int x) {
                return x > 2;
            });
    });
    check::expect(count.host()[0] == 5 && out.host()[4] == 9, "DeviceSelect::If");
}

struct OddOnDevice {
    CUB_RUNTIME_FUNCTION __device__ bool operator()(int x) const {
#ifdef __CUDA_ARCH__
        return x % 2 != 0;
#else
        return false;
#endif
    }
};

void test_partition() {
    const check::Array<int> in({1, 2, 3, 4, 5, 6, 7, 8});
    const check::Array<int> flags({1, 0, 0, 1, 0, 1, 1, 0});
    check::Array<int> out(8), rest(8), small(8), count(2);
    run([&](void* memory, size_t& bytes) {
        return cub::DevicePartition::Flagged(
            memory, bytes, in.data(), flags.data(), out.data(), count.data(), 8);
    });
    check::expect(
        count.host()[0] == 4 && out.host() == std::vector<int>{1, 4, 6, 7, 8, 5, 3, 2},
        "DevicePartition::Flagged");
    run([&](void* memory, size_t& bytes) {
        return cub::DevicePartition::If(
            memory, bytes, in.data(), out.data(), count.data(), 8, OddOnDevice());
    });
    check::expect(
        count.host()[0] == 4 && out.host() == std::vector<int>{1, 3, 5, 7, 8, 6, 4, 2},
        "DevicePartition::If");
    run([&](void* memory, size_t& bytes) {
        return cub::DevicePartition::If(memory,
                                        bytes,
                                        in.data(),
                                        out.data(),
                                        small.data(),
                                        rest.data(),
                                        count.data(),
                                        8,
                                        OddOnDevice(),
                                        [](int x) { return x < 5; });
    });
    check::expect(count.host() == std::vector<int>{4, 2} && out.host()[3] == 7 &&
                      small.host()[1] == 4 && rest.host()[0] == 6,
                  "DevicePartition::If into three");
}

void test_histograms() {
    // Some are below, at, or above the ends.
    const check::Array<int> in({4, -1, 1, 3, 12, 3, 11, 0, 5, 6, 13, 7});
    check::Array<unsigned> counts(4);
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(
            memory, bytes, in.data(), counts.data(), 5, 0, 12, 12);
    });
    check::expect(counts.host() == std::vector<unsigned>{2, 4, 2, 1},
                  "DeviceHistogram::HistogramEven");
    const check::Array<float> floats({0.5f, -0.1f, 2.0f, NAN, 1.99f, 1e30f, 0.0f});
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(
            memory, bytes, floats.data(), counts.data(), 5, 0.0f, 2.0f, 7);
    });
    check::expect(counts.host() == std::vector<unsigned>{1, 1, 0, 1},
                  "DeviceHistogram::HistogramEven of floats");
    const check::Array<int> bounds({-1, 0, 4, 4, 12});
    run([&](void* memory, size_t& bytes) {
        return cub::DeviceHistogram::HistogramRange(
            memory, bytes, in.data(), counts.data(), 5, bounds.data(), 12);
    });
    check::expect(counts.host() == std::vector<unsigned>{1, 4, 0, 5},
                  "DeviceHistogram::HistogramRange");
}
}  // namespace

int main() {
    test_blocks();
    test_device();
    test_partition();
    test_histograms();
    return check::report();
}
