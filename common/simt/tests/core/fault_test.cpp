// What goes wrong in kernels, and what is said about it.
#include <cassert>
#include <stdexcept>

#include "../../core/symbolize.h"
#include "harness.h"
#include "simt/finding.h"

namespace {

using test::Buffer;
using test::here;

#define NEXT_LINE test::here(__FILE__, __LINE__ + 1)

// Each kernel notes the line of its mistake, the next one, so that the report can be
// checked.
int g_line = 0;
#define MISTAKE g_line = __LINE__ + 1

std::string mistake() {
    return "at " + here(__FILE__, g_line) + ": ";
}

TEST("the simulator's code is known wherever it was compiled, and a program's too") {
    using simt::detail::is_users;
    using simt::detail::own_path;
    // As debug information has it: of another copy, which a compiler's cache served, or
    // relative to a build folder.
    CHECK(own_path("/somewhere/else/common/simt/core/fault.cpp") == "core/fault.cpp");
    CHECK(own_path("../../common/simt/api/memory.cpp") == "api/memory.cpp");
    CHECK(own_path("/a/build/sim/../../common/simt/core/fault.cpp:12") ==
          "core/fault.cpp:12");
    CHECK(own_path("/simt/of/mine/simt/core/include/simt/core.h:3 (discriminator 2)")
              .rfind("core/include/simt/core.h:3", 0) == 0);
    CHECK(!is_users("/somewhere/else/common/simt/headers/include/cuda_fp16.h"));
    // Programs beside the simulator's rooms, of names like theirs, or in such a folder.
    CHECK(is_users(__FILE__));
    CHECK(own_path("/a/common/simt/tests/core/fault_test.cpp").empty());
    CHECK(own_path("/a/common/simt/bench/bench.cu").empty());
    CHECK(is_users("/home/me/simt/kernel.cu"));
    CHECK(is_users("/home/me/simt/core/mine.cu"));
    CHECK(is_users("/home/me/project/core/fault.cpp"));
    CHECK(is_users("/home/me/notsimt/core/fault.cpp"));
    CHECK(!is_users("??"));
    CHECK(!is_users("/usr/include/c++/12/vector"));
}

void write_at(float* p, long i) {
    if (blockIdx.x == 1 && threadIdx.x == 7) {
        MISTAKE;
        p[i] = 1.0f;
    }
}

TEST("an access past the end names allocation, kernel, block, thread and line") {
    Buffer<float> data(1024);
    const std::string launch = NEXT_LINE;
    LAUNCH(write_at, 3, 32)(data.get(), 1024 + 25);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("kernel write_at launched at " + launch));
    CHECK(test::report_contains("block (1,0,0) thread (7,0,0), " + mistake()));
    CHECK(test::report_contains("100 bytes past the end of device allocation #"));
    CHECK(test::report_contains("(4096 bytes)"));
}

std::string g_words;  // of the last finding, for a program that asks for findings

TEST("a finding's words name thread, line, kernel and launch, too") {
    simt::on_finding([](const simt::Finding& f) { g_words = f.text; });
    Buffer<float> data(1024);
    const std::string launch = NEXT_LINE;
    LAUNCH(write_at, 3, 32)(data.get(), 1024 + 25);
    simt::on_finding(nullptr);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    const size_t first = g_words.find('\n');
    CHECK(g_words.rfind("illegal access, 100 bytes past the end of ", 0) == 0);
    CHECK(g_words.substr(first) ==
          "\n    block (1,0,0) thread (7,0,0) is at " + here(__FILE__, g_line) +
              "\n    Kernel write_at, launched at " + launch + ".");
}

void use_dynamic() {
    float* const p = simt::dynamic_shared<float>();
    MISTAKE;
    p[threadIdx.x + 20000] = 1.0f;
}

TEST("dynamic shared memory that the launch does not ask for is named") {
    LAUNCH(use_dynamic, 1, 32)();
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("access through a null pointer"));
    CHECK(test::report_contains("The launch asks for no dynamic shared memory"));
    CHECK(test::report_contains("third argument of <<<...>>>"));
}

TEST("the next launch works, after a fault has been cleared") {
    Buffer<float> data(1024);
    LAUNCH(write_at, 3, 32)(data.get(), 100000);
    CHECK(simt::detail::sticky_error() == cudaErrorIllegalAddress);
    data[5] = 0;
    LAUNCH(write_at, 3, 32)(data.get(), 5l);
    CHECK(data[5] == 0.0f);  // the context is destroyed
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    LAUNCH(write_at, 3, 32)(data.get(), 5l);
    CHECK(data[5] == 1.0f);
}

TEST("a write just past the end is found when the kernel has ended") {
    Buffer<float> data(1000);
    LAUNCH(write_at, 3, 32)(data.get(), 1001l);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("4 bytes past the end of device allocation"));
    CHECK(test::report_contains("argument 1"));
    LAUNCH(write_at, 3, 32)(data.get(), -2l);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("8 bytes before device allocation"));
}

TEST("tight: a write just past the end faults at once") {
    simt::set_tight(true);
    Buffer<float> data(1000);
    simt::set_tight(false);
    LAUNCH(write_at, 3, 32)(data.get(), 1000l);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("thread (7,0,0), " + mistake()));
    CHECK(test::report_contains("0 bytes past the end"));
}

TEST("use after free") {
    float* p;
    {
        Buffer<float> data(100);
        p = data.get();
    }
    simt::on_finding([](const simt::Finding& f) { g_words = f.text; });
    LAUNCH(write_at, 3, 32)(p, 10l);
    simt::on_finding(nullptr);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(g_words.find("\n    Usual fix: free the memory after the last kernel") !=
          g_words.npos);
    CHECK(test::report_contains("byte 40 of device allocation"));
    CHECK(test::report_contains("has been freed"));
}

TEST("null pointer") {
    LAUNCH(write_at, 3, 32)(nullptr, 2l);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains(mistake() + "access through a null pointer"));
}

void divide(int* out, int by) {
    MISTAKE;
    *out = 100 / by;
}

TEST("division by zero") {
    Buffer<int> out(1);
    LAUNCH(divide, 1, 1)(out.get(), 0);
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains(mistake() + "integer division by zero"));
}

__attribute__((noinline)) int recurse(volatile int* p, int depth) {
    volatile char local[1000];
    local[0] = static_cast<char>(depth);
    return depth == 0 ? *p : recurse(p, depth - 1) + local[0];
}
void deep(int* out) {
    *out = recurse(out, 1000000);
}

TEST("stack overflow") {
    Buffer<int> out(1);
    LAUNCH(deep, 1, 32)(out.get());
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("stack overflow"));
    CHECK(test::report_contains("fault_test.cpp:"));
}

void failing_assert(int n) {
    MISTAKE;
    assert(n == 3 && "three");
}
void trapping() {
    MISTAKE;
    __trap();
}
void throwing() {
    throw std::runtime_error("thrown in a kernel");
}

TEST("assert, trap and exceptions") {
    LAUNCH(failing_assert, 1, 32)(3);
    CHECK(test::take_fault() == 0);
    LAUNCH(failing_assert, 1, 32)(4);
    CHECK(test::take_fault() == cudaErrorAssert);
    CHECK(test::report_contains(mistake()));
    CHECK(test::report_contains("n == 3"));
    LAUNCH(trapping, 1, 32)();
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains(mistake()));
    LAUNCH(throwing, 2, 32)();
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains("thrown in a kernel"));
}

// ---- Barriers and warps ---------------------------------------------------------

void early_return(unsigned n) {
    if (threadIdx.x >= n) return;
    MISTAKE;
    __syncthreads();
}

TEST("strict: threads that returned before a barrier") {
    simt::set_strict(true);
    LAUNCH(early_return, 1, 128)(100u);
    simt::set_strict(false);
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains(mistake()));
    CHECK(test::report_contains("28 of the block's 128 threads have ended"));
}

void two_barriers() {
    if (threadIdx.x < 64)
        __syncthreads();
    else
        __syncthreads();
}

TEST("two barriers in the branches of an if: accepted, except when strict") {
    LAUNCH(two_barriers, 1, 128)();
    CHECK(test::take_fault() == 0);
    simt::set_strict(true);
    LAUNCH(two_barriers, 1, 128)();
    simt::set_strict(false);
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains("barrier divergence"));
    CHECK(test::report_contains("thread (64,0,0)"));
    CHECK(test::report_contains("64 other threads"));
}

void shuffle_in_branch(int* out) {
    int v = static_cast<int>(threadIdx.x);
    if (threadIdx.x % 32 < 16) {
        MISTAKE;
        v = __shfl_xor_sync(~0u, v, 1);
    }
    __syncthreads();
    out[threadIdx.x] = v;
}

TEST("deadlock: a shuffle that half of the warp does not reach") {
    Buffer<int> out(64);
    LAUNCH(shuffle_in_branch, 1, 64)(out.get());
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    CHECK(test::report_contains("deadlock"));
    CHECK(test::report_contains(mistake()));
    CHECK(test::report_contains("32 threads wait in __shfl_xor_sync(mask 0xffffffff)"));
    CHECK(test::report_contains(": 0-15,32-47"));
    CHECK(test::report_contains("32 threads wait in __syncthreads()"));
}

void wrong_mask() {
    if (threadIdx.x % 2) {
        MISTAKE;
        __syncwarp(0x55555555u);
    }
}

TEST("a lane that its own mask does not name") {
    LAUNCH(wrong_mask, 1, 32)();
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains(mistake() + "lane 1 calls __syncwarp with mask"));
}

void wrong_mask_of_a_vote() {
    __all_sync(0x0000fffeu, 1);
}

TEST("a vote is reported under its own name") {
    LAUNCH(wrong_mask_of_a_vote, 1, 32)();
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains("lane 0 calls __all_sync with mask"));
}

void mixed_masks() {
    if (threadIdx.x % 2)
        __syncwarp(0xffffffffu);
    else
        __syncwarp(0x55555555u);
    if (threadIdx.x % 2 == 0) __ballot_sync(0xffffffffu, 1);
}

TEST("lanes that name each other in different operations") {
    LAUNCH(mixed_masks, 1, 32)();
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    CHECK(test::report_contains("16 threads wait in __syncwarp(mask 0xffffffff)"));
    CHECK(test::report_contains("16 threads wait in __ballot_sync(mask 0xffffffff)"));
}

void lonely_grid_barrier() {
    if (blockIdx.x != 0) {
        MISTAKE;
        simt::detail::grid_barrier(__FILE__, __LINE__);
    }
}

TEST("a grid barrier without a cooperative launch, and one that not all blocks reach") {
    LAUNCH(lonely_grid_barrier, 4, 32)();
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains(mistake() + "grid.sync()"));
    simt::Config config(4, 32);
    config.cooperative = true;
    simt::kernel("lonely", lonely_grid_barrier).with(config)();
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    CHECK(test::report_contains("32 threads wait in grid.sync"));
}

// ---- Shared memory --------------------------------------------------------------

struct Row {
    float v[10];
};

void overrun_shared(int i) {
    MISTAKE;
    Row& row = simt::shared<Row>("row");
    if (threadIdx.x == 3) row.v[i] = 1.0f;
}

TEST("a write past the end of a shared variable") {
    LAUNCH(overrun_shared, 2, 32)(9);
    CHECK(test::take_fault() == 0);
    LAUNCH(overrun_shared, 2, 32)(11);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains(mistake()));
    CHECK(test::report_contains("4 bytes past the end of shared `row` (40 bytes)"));
}

void overrun_dynamic(int i) {
    auto* s = simt::dynamic_shared<float>();
    MISTAKE;
    s[i] = 1.0f;
}

TEST("a write past the end of dynamic shared memory") {
    LAUNCH(overrun_dynamic, 1, 1, 400)(99);
    CHECK(test::take_fault() == 0);
    LAUNCH(overrun_dynamic, 1, 1, 400)(100);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("past the end of shared `dynamic` (400 bytes)"));
    LAUNCH(overrun_dynamic, 1, 1, 400)(1000);
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains(mistake() + "illegal access"));
}

void misaligned_copy(float* in) {
    Row& row = simt::shared<Row>("row");
    simt::detail::cp_async(&row.v[1], in, 16);
}

TEST("a misaligned asynchronous copy") {
    Buffer<float> in(16);
    LAUNCH(misaligned_copy, 1, 1)(in.get());
    CHECK(test::take_fault() == cudaErrorMisalignedAddress);
    CHECK(test::report_contains("multiples of 16"));
}

void fault_in_one_block(int* p) {
    for (int i = 0; i < 100; ++i)
        __syncthreads();
    if (blockIdx.x == 77) p[1 << 20] = 1;
}

TEST("a fault in one of many blocks ends the launch") {
    Buffer<int> p(16);
    for (int round = 0; round < 20; ++round) {
        LAUNCH(fault_in_one_block, 200, 64)(p.get());
        CHECK(test::take_fault() == cudaErrorIllegalAddress);
        CHECK(test::report_contains("block (77,0,0)"));
    }
}

}  // namespace
