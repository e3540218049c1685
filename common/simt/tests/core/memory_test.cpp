// The table of allocations.
#include "harness.h"

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

}  // namespace
