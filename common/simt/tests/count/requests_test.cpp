// The pure functions behind the counters: what a request costs, and in which order
// traces are replayed; and which frame pointers the checker trusts.

#include <pthread.h>

#include <cstdio>
#include <functional>
#include <string>

#include "../../checker/count/json.h"
#include "../../checker/count/lockstep.h"
#include "../../checker/count/request.h"
#include "../../checker/frames.h"

using namespace simt::check;

namespace {

int failures = 0;

void expect(const std::string& what, uint64_t got, uint64_t want) {
    if (got == want) return;
    ++failures;
    std::printf("%s is %llu, not %llu\n",
                what.c_str(),
                static_cast<unsigned long long>(got),
                static_cast<unsigned long long>(want));
}

/// A request of the lanes in `lanes`: lane l at at(l) bytes behind a multiple of 128.
Request request(uint32_t bytes,
                const std::function<unsigned(unsigned)>& at,
                uint32_t lanes = ~0u) {
    Request r;
    r.bytes = bytes;
    r.lanes = lanes;
    for (unsigned l = 0; l < kLanes; ++l)
        r.address[l] = 0x7f0000001000 + at(l);
    return r;
}

void expect_sectors(const std::string& name,
                    const Request& r,
                    unsigned count,
                    unsigned ideal) {
    const Sectors s = sectors_of(r);
    expect(name + ": sectors", s.count, count);
    expect(name + ": ideal sectors", s.ideal, ideal);
}

void expect_waves(const std::string& name,
                  const Request& r,
                  unsigned count,
                  unsigned ideal,
                  unsigned ways) {
    const Wavefronts w = wavefronts_of(r);
    expect(name + ": wavefronts", w.count, count);
    expect(name + ": ideal wavefronts", w.ideal, ideal);
    expect(name + ": ways", w.ways, ways);
}

void test_sectors() {
    const auto stride = [](unsigned bytes) {
        return [bytes](unsigned l) { return l * bytes; };
    };
    // 32 lanes times 4 bytes are 128 bytes: 4 sectors, however they are ordered.
    expect_sectors("neighbours", request(4, stride(4)), 4, 4);
    expect_sectors(
        "reversed", request(4, [](unsigned l) { return 124 - 4 * l; }), 4, 4);
    expect_sectors(
        "shuffled", request(4, [](unsigned l) { return l * 20 % 128; }), 4, 4);
    // Shifted by one element: the 128 bytes lie in 5 sectors.
    expect_sectors("shifted", request(4, [](unsigned l) { return 4 * l + 4; }), 5, 4);
    // Apart by s elements the lanes span s times as many sectors, at most one each.
    expect_sectors("stride 2", request(4, stride(8)), 8, 4);
    expect_sectors("stride 4", request(4, stride(16)), 16, 4);
    expect_sectors("stride 8", request(4, stride(32)), 32, 4);
    expect_sectors("stride 16", request(4, stride(64)), 32, 4);
    expect_sectors("stride 32", request(4, stride(128)), 32, 4);
    // All lanes at one address: the sector is moved once.
    expect_sectors("broadcast", request(4, stride(0)), 1, 1);
    expect_sectors("bytes", request(1, stride(1)), 1, 1);
    expect_sectors("halves", request(2, stride(2)), 2, 2);
    expect_sectors("doubles", request(8, stride(8)), 8, 8);
    expect_sectors("float4", request(16, stride(16)), 16, 16);
    expect_sectors("float4 of 64 bytes", request(16, stride(64)), 32, 16);
    // A piece that lies across the border of two sectors.
    expect_sectors("across",
                   request(
                       8, [](unsigned) { return 28u; }, 1),
                   2,
                   1);
    expect_sectors("8 lanes", request(4, stride(4), 0xff), 1, 1);
    expect_sectors("every other lane", request(4, stride(4), 0x55555555), 4, 2);
}

void test_wavefronts() {
    const auto stride = [](unsigned words) {
        return [words](unsigned l) { return l * words * 4; };
    };
    // Word w is in bank w % 32: a stride of s words meets gcd(s, 32) words in a bank.
    for (const unsigned ways : {1u, 2u, 4u, 8u, 16u, 32u}) {
        const std::string name = "stride " + std::to_string(ways);
        expect_waves(name, request(4, stride(ways)), ways, 1, ways);
    }
    expect_waves("stride 3", request(4, stride(3)), 1, 1, 1);
    expect_waves("stride 33", request(4, stride(33)), 1, 1, 1);
    expect_waves("broadcast", request(4, stride(0)), 1, 1, 1);
    const auto pairs = [](unsigned l) { return l / 2 * 4; };
    expect_waves("pairs share a word", request(4, pairs), 1, 1, 1);
    expect_waves(
        "halves of words", request(2, [](unsigned l) { return l * 2; }), 1, 1, 1);
    // 2 lanes of 16 share the 2 words of a bank.
    expect_waves(
        "bytes 64 apart", request(1, [](unsigned l) { return l * 64; }), 16, 1, 16);
    // 256 bytes cannot come in less than two wavefronts of 128, 512 in less than four.
    expect_waves("doubles", request(8, stride(2)), 2, 2, 1);
    expect_waves("doubles, stride 2", request(8, stride(4)), 4, 2, 2);
    expect_waves("float4", request(16, stride(4)), 4, 4, 1);
    expect_waves("float4, stride 4", request(16, stride(16)), 16, 4, 4);
    expect_waves("float4, stride 5", request(16, stride(20)), 4, 4, 1);
    expect_waves("float4, 8 lanes", request(16, stride(4), 0xff), 1, 1, 1);
    // All lanes, or all pairs, want the same: twice as many lanes are served at once.
    expect_waves("doubles, one", request(8, stride(0)), 1, 1, 1);
    expect_waves("float4, one", request(16, stride(0)), 2, 2, 1);
}

void test_contention() {
    const auto same = request(4, [](unsigned) { return 0u; });
    expect("all at one address", contention_of(same, false).same_address, 32);
    expect("all at one address: steps", contention_of(same, false).steps, 32);
    const auto apart = request(4, [](unsigned l) { return l * 128; });
    expect("apart", contention_of(apart, false).same_address, 1);
    expect("apart: steps", contention_of(apart, false).steps, 1);
    // In shared memory these are all in bank 0.
    expect("one bank: steps", contention_of(apart, true).steps, 32);
    const auto bins = request(4, [](unsigned l) { return l % 8 * 4; });
    expect("8 bins", contention_of(bins, true).same_address, 4);
    expect("8 bins: steps", contention_of(bins, true).steps, 4);
    expect("8 bins: words", words_of(bins), 8);
    expect("one word", words_of(same), 1);
}

/// Replays traces that are given as strings of points 'a' to 'z', in the order of the
/// alphabet; upper case is the same point in a called function, one level deeper.
std::string replay_of(const std::vector<std::string>& traces, uint32_t unfinished = 0) {
    WarpTrace trace;
    std::vector<uint64_t> order(128);
    for (unsigned c = 0; c < order.size(); ++c)
        order[c] = order_of(c >= 'a' ? 64 : 128, c);
    for (size_t l = 0; l < traces.size(); ++l)
        for (const char c : traces[l])
            trace.lane[l].push_back(make_event(static_cast<unsigned char>(c), l));
    std::string steps;
    replay(trace,
           unfinished,
           order,
           [&steps](uint32_t point, uint32_t lanes, const Event*) {
               steps += static_cast<char>(point);
               steps += std::to_string(__builtin_popcount(lanes));
           });
    return steps;
}

void expect_replay(const std::vector<std::string>& traces,
                   const std::string& want,
                   uint32_t unfinished = 0) {
    const std::string got = replay_of(traces, unfinished);
    if (got == want) return;
    ++failures;
    std::printf("replayed as %s, not %s\n", got.c_str(), want.c_str());
}

void test_replay() {
    expect_replay({"abc", "abc"}, "a2b2c2");
    // if (lane == 0) b; c
    expect_replay({"abc", "ac", "ac"}, "a3b1c3");
    // if (lane == 0) b; else c; d
    expect_replay({"abd", "acd"}, "a2b1c1d2");
    // A loop: b is its body, run once, twice and three times; then c.
    expect_replay({"abc", "abbc", "abbbc"}, "a3b3b2b1c3");
    // A loop whose body has a branch, b or c, and ends at d; then e.
    expect_replay({"abdbde", "acdcde"}, "a2b1c1d2b1c1d2e2");
    // A function called by two of three lanes: it comes first although it is behind.
    expect_replay({"aZb", "aZb", "ab"}, "a3Z2b3");
    // The same function called in both branches: at different times.
    expect_replay({"abZd", "acZd"}, "a2b1Z1c1Z1d2");
    // Lane 1 may yet come to b: nothing behind it can be told.
    expect_replay({"abc", "a"}, "a2", 2);
    expect_replay({"abc", "a"}, "a2b1c1", 0);
}

void test_json() {
    Json json;
    json.open('{')
        .member("text", "\"a\\b\"\n\tz\x01")
        .member("number", uint64_t{1} << 63)
        .key("list")
        .open('[')
        .value(1)
        .value(2)
        .close(']')
        .key("none")
        .null()
        .close('}');
    const std::string want =
        "{\"text\":\"\\\"a\\\\b\\\"\\n\\u0009z\\u0001\",\"number\":9223372036854775808,"
        "\"list\":[1,2],\"none\":null}";
    if (json.text() == want) return;
    ++failures;
    std::printf("JSON is %s\n", json.text().c_str());
}

/// Code without frame pointers leaves anything in their register.
void test_frames() {
    const auto trusted = [](const void* inner, const void* frame) {
        return frame_outside(inner, static_cast<void* const*>(frame)) == frame;
    };
    const char* here = static_cast<const char*>(__builtin_frame_address(0));
    static char elsewhere[16];
    alignas(8) char inner = 0;
    expect("trust in a frame", trusted(&inner, here), 1);
    expect("trust in a frame on this side", trusted(here, &inner), 0);
    expect("trust in a number", trusted(nullptr, reinterpret_cast<void*>(16)), 0);
    expect("trust in an odd address", trusted(&inner, here + 1), 0);
    expect("trust in static memory", trusted(nullptr, elsewhere), 0);
    pthread_attr_t attributes;
    void* low = nullptr;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    const char* end = static_cast<char*>(low) + size;
    expect("trust in the last two words", trusted(&inner, end - 16), 1);
    expect("trust in the last word", trusted(&inner, end - 8), 0);
}

}  // namespace

int main() {
    test_sectors();
    test_wavefronts();
    test_contention();
    test_replay();
    test_json();
    test_frames();
    std::printf("%s\n", failures == 0 ? "all right" : "FAILED");
    return failures != 0;
}
