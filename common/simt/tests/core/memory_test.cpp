// The table of allocations.
#include "harness.h"
#include "simt/write_watch.h"

namespace {

using namespace simt::detail;

char* get(size_t n, MemoryKind kind = MemoryKind::device) {
    return static_cast<char*>(allocate(n, kind));
}

TEST("memory is aligned, poisoned, found by any address in it, and freed once") {
    for (size_t n : {1u, 15u, 16u, 255u, 256u, 4096u, 5000u, 1000000u}) {
        char* p = get(n);
        CHECK(reinterpret_cast<uintptr_t>(p) % 256 == 0);
        for (size_t i = 0; i < n; ++i)
            CHECK(p[i] == '\xff');
        Allocation a;
        CHECK(find_allocation(p + n - 1, &a));
        CHECK(a.begin == p && a.size == n && a.live && a.kind == MemoryKind::device);
        CHECK(!find_allocation(p + n, &a));
        CHECK(!find_allocation(p - 1, &a));
        CHECK(!release(p + 1, MemoryKind::device));
        CHECK(!release(p, MemoryKind::pinned));
        CHECK(release(p, MemoryKind::device));
        CHECK(!release(p, MemoryKind::device));
        CHECK(!find_allocation(p, &a));
    }
    CHECK(get(0) == nullptr);
}

TEST("tight allocations end within 16 bytes of a guard page") {
    simt::set_tight(true);
    for (size_t n : {1u, 16u, 17u, 1000u}) {
        char* p = get(n);
        const size_t end = (n + 15) / 16 * 16;
        CHECK((reinterpret_cast<uintptr_t>(p) + end) % 4096 == 0);
        CHECK(release(p, MemoryKind::device));
    }
    simt::set_tight(false);
}

TEST("more than the limit cannot be had") {
    const size_t used = memory_used();
    CHECK(get(memory_limit() + 1) == nullptr);
    CHECK(get(~size_t{0}) == nullptr);
    CHECK(get(~size_t{0} - 300) == nullptr);
    CHECK(memory_used() == used);
}

TEST("a huge allocation is not filled as a whole") {
    const size_t n = size_t{2} << 30;
    char* p = get(n);
    CHECK(p != nullptr);
    CHECK(p[0] == '\xff' && p[n - 1] == '\xff' && p[n / 2] == 0);
    CHECK(release(p, MemoryKind::device));
}

TEST("host memory can be registered, but not twice") {
    std::vector<char> host(1000);
    CHECK(register_host(host.data(), 1000));
    CHECK(!register_host(host.data() + 10, 10));
    Allocation a;
    CHECK(find_allocation(host.data() + 999, &a) && a.kind == MemoryKind::registered);
    CHECK(!unregister_host(host.data() + 1));
    CHECK(unregister_host(host.data()));
    CHECK(!unregister_host(host.data()));
}

TEST("a released address is not given out again soon") {
    char* first = get(100);
    CHECK(release(first, MemoryKind::device));
    for (int i = 0; i < 1000; ++i) {
        char* p = get(100);
        CHECK(p != first);
        CHECK(release(p, MemoryKind::device));
    }
}

// ---- Watched memory -------------------------------------------------------------

std::string g_place;
#define HERE g_place = test::here(__FILE__, __LINE__ + 1)

void double_and_halve(volatile float* p, long i) {
    if (threadIdx.x != 5) return;
    HERE;
    p[i] = p[i] * 2.0f;
    p[i] = p[i] * 0.5f;
}

TEST("whoever writes to watched memory is noted, and the kernel goes on") {
    test::Buffer<float> data(3000, 1.0f);
    simt::watch_writes(data.get() + 10, 2000 * sizeof(float));
    LAUNCH(double_and_halve, 2, 32)(data.get(), 1500l);
    const auto seen = simt::end_write_watch(data.get() + 10);
    CHECK(seen && seen->offset == 1490 * sizeof(float));
    CHECK(seen && seen->kernel == "double_and_halve" && seen->thread[0] == 5);
    CHECK(seen && seen->file.ends_with("memory_test.cpp"));
    CHECK(seen && g_place == test::here(seen->file.c_str(), seen->line));
    CHECK(data[1500] == 1.0f);
    CHECK(!simt::end_write_watch(data.get() + 10));
}

TEST("host code that writes to watched memory is noted") {
    test::Buffer<float> data(3000, 1.0f);
    simt::watch_writes(data.get(), 3000 * sizeof(float));
    data[7] = 1.0f;
    const auto seen = simt::end_write_watch(data.get());
    CHECK(seen && seen->offset == 7 * sizeof(float) && seen->kernel.empty());
}

TEST("reading watched memory, and writing beside it, is not noted") {
    test::Buffer<float> from(3000, 1.0f);
    test::Buffer<float> to(3000, 0.0f);
    simt::watch_writes(from.get() + 1, 2000 * sizeof(float));
    to[1] = from[1];
    from[0] = from[2001] = 3.0f;
    CHECK(!simt::end_write_watch(from.get() + 1));
    CHECK(to[1] == 1.0f && from[0] == 3.0f && from[2001] == 3.0f);
}

TEST("watched memory can be freed, and faults behind it are reported") {
    char* p = get(100);
    simt::watch_writes(p, 100);
    CHECK(release(p, MemoryKind::device));
    CHECK(!simt::end_write_watch(p));
    test::Buffer<float> data(1024);
    simt::watch_writes(data.get(), 4096);
    LAUNCH(double_and_halve, 1, 32)(data.get(), 1024 + 25l);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(!simt::end_write_watch(data.get()));
    data[3] = 1.0f;
}

}  // namespace
