// What a warp's access costs, as the simulator's checker counts it, for the figure
// "memory access": patterns written as expressions, and many random ones. The counters
// agree with those of Nsight Compute on an H100 (book/data/xray_truth.json).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <simt/check.h>
#include <simt/counters.h>

#include "json.h"

namespace {

constexpr int kLanes = 32;
constexpr int kBytes = 1 << 14;  // of the arrays, in global and in shared memory

/// Which element each lane wants; -1: it does not take part.
struct Lanes {
    int index[kLanes];
};

/// Each lane loads its element: one request for global memory.
///
/// @param g_in   kBytes
/// @param g_out  [kLanes]
template <class T>
__global__ void load_global(const T* g_in, T* g_out, Lanes lanes) {
    const int index = lanes.index[threadIdx.x];
    if (index >= 0) g_out[threadIdx.x] = g_in[index];
}

/// The same from shared memory, which is filled first.
template <class T>
__global__ void load_shared(T* g_out, Lanes lanes) {
    __shared__ alignas(128) unsigned char s_in[kBytes];
    for (int i = threadIdx.x; i < kBytes / 16; i += kLanes)
        reinterpret_cast<uint4*>(s_in)[i] = uint4{};
    __syncwarp();
    const int index = lanes.index[threadIdx.x];
    if (index >= 0) g_out[threadIdx.x] = reinterpret_cast<const T*>(s_in)[index];
}

struct Counted {
    simt::check::GlobalCounters global;
    simt::check::SharedCounters shared;
};

void require(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

/// Launches both kernels in a section of their own and reads the counters.
template <class T>
Counted count(const Lanes& lanes, void* g_in, void* g_out) {
    static int section = 0;
    char name[32];
    std::snprintf(name, sizeof name, "%zu bytes, %d", sizeof(T), section++);
    simt::check::begin_section(name);
    T* const out = static_cast<T*>(g_out);
    load_global<<<1, kLanes>>>(static_cast<const T*>(g_in), out, lanes);
    load_shared<<<1, kLanes>>>(out, lanes);
    require(cudaDeviceSynchronize());
    const Counted counted{simt::check::counters("load_global").global_load,
                          simt::check::counters("load_shared").shared_load};
    simt::check::end_section();
    return counted;
}

Counted count(int bytes, const Lanes& lanes, void* g_in, void* g_out) {
    switch (bytes) {
        case 1:
            return count<std::uint8_t>(lanes, g_in, g_out);
        case 2:
            return count<std::uint16_t>(lanes, g_in, g_out);
        case 4:
            return count<std::uint32_t>(lanes, g_in, g_out);
        case 8:
            return count<uint2>(lanes, g_in, g_out);
        default:
            return count<uint4>(lanes, g_in, g_out);
    }
}

struct Pattern {
    int bytes;  // of an element
    const char* text;
    int (*index)(int lane);
    const char* active_text;
    bool (*active)(int lane);
};

// The text that the model parses is the code that runs here.
#define PATTERN_IF(BYTES, INDEX, ACTIVE)                                       \
    Pattern {                                                                  \
        BYTES, #INDEX, []([[maybe_unused]] int lane) -> int { return INDEX; }, \
            #ACTIVE, []([[maybe_unused]] int lane) -> bool { return ACTIVE; }  \
    }
#define PATTERN(BYTES, INDEX) PATTERN_IF(BYTES, INDEX, 1)

// clang-format off
const Pattern kPatterns[] = {
    PATTERN(4, lane),
    PATTERN(4, lane + 1),
    PATTERN(4, 31 - lane),
    PATTERN(4, 2 * lane),
    PATTERN(4, lane * 3),
    PATTERN(4, lane * 4),
    PATTERN(4, lane * 8),
    PATTERN(4, 10 * lane),
    PATTERN(4, lane * 32),
    PATTERN(4, lane * 33),
    PATTERN(4, lane * 32 + (lane ^ 5)),
    PATTERN(4, 7),
    PATTERN(4, lane / 4),
    PATTERN(4, lane % 8 * 32 + lane / 8),
    PATTERN(4, lane << 5 | (lane >> 2 & 7)),
    PATTERN(4, (lane & ~3) + (3 - lane % 4)),
    PATTERN(4, lane < 16 ? lane : 16 * lane),
    PATTERN(4, 6 - 13 / (lane + 1) % 5),
    PATTERN(4, 50 + -7 / 2 + -7 % 4 - 1),
    PATTERN(4, (lane > 3 && lane != 9) + (lane <= 2 || !lane) * 64),
    PATTERN_IF(4, lane, lane < 8),
    PATTERN_IF(4, lane, lane % 2 == 0),
    PATTERN_IF(4, 64 * lane, lane == 17),
    PATTERN_IF(4, 4 * lane, lane >= 5 && lane < 29),
    PATTERN(1, lane),
    PATTERN(1, lane * 4),
    PATTERN(1, lane * 128),
    PATTERN(2, lane),
    PATTERN(2, lane * 2),
    PATTERN(2, lane * 64 + 1),
    PATTERN(8, lane),
    PATTERN(8, 2 * lane),
    PATTERN(8, lane / 2),
    PATTERN(8, lane / 4 * 2 + lane % 2),
    PATTERN(8, lane / 8 * 4 + lane % 4),
    PATTERN_IF(8, lane / 2, lane < 31),
    PATTERN(16, lane),
    PATTERN(16, 2 * lane),
    PATTERN(16, lane / 2),
    PATTERN(16, lane / 4 * 2 + lane % 2),
    PATTERN(16, lane / 8 * 4 + lane % 4),
    PATTERN(16, lane * 8),
    PATTERN(16, lane * 8 + (lane ^ lane / 8) % 8),
    PATTERN(16, 3),
};
// clang-format on

/// A pattern that the model can draw as well: `state` goes through the linear
/// congruential generator of C's standard, and elements lie below `range`.
Lanes random_lanes(std::uint32_t& state, int range, int threshold) {
    const auto next = [&](int below) {
        state = state * 1103515245u + 12345u;
        return static_cast<int>((state >> 16) % static_cast<std::uint32_t>(below));
    };
    Lanes lanes;
    for (int& index : lanes.index) {
        const int wanted = next(range);
        index = next(8) < threshold ? wanted : -1;
    }
    // Some lane takes part: a warp without any makes no request.
    if (lanes.index[0] < 0) lanes.index[0] = next(range);
    return lanes;
}

void append(truth::Json& json, const Counted& counted) {
    json.member("lanes", counted.global.lanes)
        .member("sectors", counted.global.sectors)
        .member("ideal_sectors", counted.global.ideal_sectors)
        .member("wavefronts", counted.shared.wavefronts)
        .member("ideal_wavefronts", counted.shared.ideal_wavefronts)
        .member("ways", counted.shared.worst_ways);
}

}  // namespace

int main() {
    void *g_in, *g_out;
    require(cudaMalloc(&g_in, kBytes));
    require(cudaMemset(g_in, 0, kBytes));
    require(cudaMalloc(&g_out, kLanes * 16));
    truth::Json json;
    json.open('{').key("patterns").open('[');
    for (const Pattern& pattern : kPatterns) {
        Lanes lanes;
        std::vector<int> index;
        for (int lane = 0; lane < kLanes; ++lane) {
            lanes.index[lane] = pattern.active(lane) ? pattern.index(lane) : -1;
            index.push_back(lanes.index[lane]);
        }
        json.open('{')
            .member("bytes", pattern.bytes)
            .member("index", pattern.text)
            .member("active", pattern.active_text)
            .key("values")
            .list(index);
        append(json, count(pattern.bytes, lanes, g_in, g_out));
        json.close('}');
    }
    json.close(']').key("random").open('[');
    for (int i = 0; i < 200; ++i) {
        const int bytes = 1 << i % 5;
        const int range = 2 << i / 5 % 10;
        const int threshold = i % 3 == 0 ? 8 : 1 + i % 7;
        const auto seed = static_cast<std::uint32_t>(i) * 7919u;
        std::uint32_t state = seed;
        const Lanes lanes = random_lanes(state, range, threshold);
        json.open('{')
            .member("bytes", bytes)
            .member("seed", seed)
            .member("range", range)
            .member("threshold", threshold);
        append(json, count(bytes, lanes, g_in, g_out));
        json.close('}');
    }
    json.close(']').close('}').print();
    require(cudaFree(g_in));
    require(cudaFree(g_out));
    return simt::check::counting_accesses() ? 0 : 1;
}
