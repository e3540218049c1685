// Launch configurations and arguments.
#include "../../core/kernel_attributes.h"
#include "harness.h"

namespace {

using test::Buffer;

void nothing() {}

bool is_refused(const simt::Config& config, int code, const char* why) {
    simt::kernel("nothing", nothing).with(config)();
    const bool right = test::take_fault() == code && test::report_contains(why);
    return right &&
           test::report_contains("kernel nothing launched at launch_test.cpp:");
}

TEST("impossible shapes are refused") {
    const int code = cudaErrorInvalidValue;
    CHECK(is_refused(simt::Config(1, 1025), code, "at most 1024 threads, not 1025"));
    CHECK(is_refused(simt::Config(1, dim3(32, 33)), code, "not 1056"));
    CHECK(is_refused(simt::Config(1, dim3(1, 1, 65)), code, "blockDim.z"));
    CHECK(is_refused(simt::Config(0, 32), code, "at least one block"));
    CHECK(is_refused(simt::Config(1, 0), code, "at least one thread"));
    CHECK(is_refused(simt::Config(dim3(1, 65536), 32), code, "gridDim.y"));
    CHECK(is_refused(simt::Config(dim3(1, 1, 65536), 32), code, "gridDim.z"));
    CHECK(is_refused(simt::Config(2147483648u, 32), code, "gridDim.x"));
    CHECK(is_refused(simt::Config(static_cast<unsigned>(-1), 32), code, "gridDim.x"));
}

TEST(
    "dynamic shared memory above 48 KiB needs permission, above 227 KiB there is "
    "none") {
    const int code = cudaErrorInvalidValue;
    CHECK(is_refused(simt::Config(1, 32, 49153), code, "cudaFuncSetAttribute"));
    const auto* address = reinterpret_cast<const void*>(nothing);
    CHECK(simt::detail::set_max_dynamic_smem(address, 100000));
    simt::kernel("nothing", nothing)(1, 32, 100000)();
    CHECK(test::take_fault() == 0);
    CHECK(is_refused(simt::Config(1, 32, 100001), code, "100000 are allowed"));
    CHECK(is_refused(simt::Config(1, 32, 300000), code, "the device has no more"));
    CHECK(!simt::detail::set_max_dynamic_smem(address, 227 * 1024 + 1));
}

struct Big {
    float v[13000];
};
void big_shared() {
    simt::shared<Big>("big").v[threadIdx.x] = 0;
}

TEST("more than 48 KiB of static shared memory is reported") {
    LAUNCH(big_shared, 1, 32)();
    CHECK(test::take_fault() == cudaErrorInvalidValue);
    CHECK(test::report_contains("52000 bytes"));
    CHECK(test::report_contains("nvcc refuses"));
}

struct Pair {
    int a;
    float b;
};
void params(int* out, Pair pair, size_t n, double x, const char* text) {
    if (!out) return;
    out[0] = pair.a;
    out[1] = static_cast<int>(pair.b);
    out[2] = static_cast<int>(n >> 32);
    out[3] = static_cast<int>(x * 2);
    out[4] = text == nullptr;
}

TEST("arguments are converted to the parameters' types at the launch") {
    Buffer<int> out(5);
    LAUNCH(params, 1, 1)(out.get(), {3, 4.0f}, 1, 2, NULL);
    const int expected[] = {3, 4, 0, 4, 1};
    for (size_t i = 0; i < 5; ++i)
        CHECK(out[i] == expected[i]);
    LAUNCH(params, 1, 1)(NULL, {}, 0, 0, 0);
    LAUNCH(params, 1, 1)(nullptr, {}, 0, 0, nullptr);
    CHECK(test::take_fault() == 0);
}

// What the rewriter generates for `NAME<<<...>>>`.
#define REWRITTEN(...)                                                            \
    simt::kernel(                                                                 \
        #__VA_ARGS__,                                                             \
        [&](auto use) -> decltype(use(__VA_ARGS__)) { return use(__VA_ARGS__); }, \
        [&](auto... a) { __VA_ARGS__(a...); })

void defaults(int* out, int a = 5, int b = 6) {
    *out = a * 10 + b;
}
template <class T>
void generic(T* out, T value) {
    *out = value;
}
template <class T>
void generic(T* out) {
    *out = T(99);
}
void overloaded(int* out, int a) {
    *out = a;
}
void overloaded(int* out, float b) {
    *out = static_cast<int>(b) + 1000;
}

TEST(
    "default arguments, templates, overloads and pointers to kernels can be launched") {
    Buffer<int> out(1);
    REWRITTEN(defaults)(1, 1)(out.get());
    CHECK(out[0] == 56);
    REWRITTEN(defaults)(1, 1)(out.get(), 7);
    CHECK(out[0] == 76);
    REWRITTEN(generic<int>)(1, 1)(out.get(), 8);
    CHECK(out[0] == 8);
    REWRITTEN(generic)(1, 1)(out.get(), 9);
    CHECK(out[0] == 9);
    REWRITTEN(generic)(1, 1)(out.get());
    CHECK(out[0] == 99);
    REWRITTEN(overloaded)(1, 1)(out.get(), 3);
    CHECK(out[0] == 3);
    REWRITTEN(overloaded)(1, 1)(out.get(), 3.0f);
    CHECK(out[0] == 1003);
    void (*pointer)(int*, int, int) = defaults;
    REWRITTEN(pointer)(1, 1)(out.get(), 1, 2);
    CHECK(out[0] == 12);
}

template <class T>
void deduced_index(T* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = T(threadIdx.x + 1);
}

TEST("each thread of a kernel that its arguments choose has its own index") {
    Buffer<int> out(128);
    REWRITTEN(deduced_index)(2, 64)(out.get());
    for (size_t i = 0; i < 128; ++i)
        CHECK(out[i] == static_cast<int>(i % 64 + 1));
}

template <class T>
void deduced_shared(T* out) {
    *out = simt::dynamic_shared<T>()[16000];
}

TEST("permission for shared memory holds for a kernel that its arguments choose") {
    Buffer<float> out(1);
    REWRITTEN(deduced_shared)(1, 1, 70000)(out.get());
    CHECK(test::take_fault() == cudaErrorInvalidValue);
    CHECK(simt::detail::set_max_dynamic_smem(
        reinterpret_cast<const void*>(&deduced_shared<float>), 70000));
    REWRITTEN(deduced_shared)(1, 1, 70000)(out.get());
    CHECK(test::take_fault() == 0);
    CHECK(out[0] != out[0]);
}

void change_parameter(int* out, int n) {
    n += static_cast<int>(threadIdx.x);
    out[threadIdx.x] = n;
}

TEST("each thread has its own copy of the parameters") {
    Buffer<int> out(32);
    LAUNCH(change_parameter, 1, 32)(out.get(), 100);
    for (int i = 0; i < 32; ++i)
        CHECK(out[static_cast<size_t>(i)] == 100 + i);
}

int g_copies = 0, g_destroyed = 0;
struct Owner {
    int value;
    explicit Owner(int v) : value(v) {}
    Owner(const Owner& other) : value(other.value) { ++g_copies; }
    ~Owner() { ++g_destroyed; }
};
void change_owner(Owner owner, int* out) {
    out[threadIdx.x] = owner.value++ + static_cast<int>(threadIdx.x);
}

TEST("a parameter that is an object travels as bytes") {
    Buffer<int> out(64);
    const Owner owner(40);
    LAUNCH(change_owner, 1, 64)(owner, out.get());
    CHECK(test::take_fault() == 0);
    for (size_t i = 0; i < 64; ++i)
        CHECK(out[i] == 40 + static_cast<int>(i));
    CHECK(g_copies == 1 && g_destroyed == 1);  // the host's argument
    CHECK(owner.value == 40);
}

struct Large {
    int v[20000];  // a reference takes eight bytes of the parameter space
};
void move_one(Large& from, const int& place, int* out) {
    *out = from.v[place]++;
}

TEST("a reference is the address of what it refers to") {
    Buffer<Large> large(1);
    Buffer<int> out(2);
    large[0].v[3] = 7;
    out[1] = 3;
    LAUNCH(move_one, 1, 1)(large[0], out[1], out.get());
    CHECK(test::take_fault() == 0);
    CHECK(out[0] == 7 && large[0].v[3] == 8);
    const int on_stack = 3;
    LAUNCH(move_one, 1, 1)(large[0], on_stack, out.get());
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("argument 2"));
    CHECK(large[0].v[3] == 8);
}

void read_first(const int* in, int* out) {
    *out = *in;
}
int g_static[4] = {41, 42, 43, 44};

TEST("host pointers are found out before the kernel runs") {
    Buffer<int> out(1);
    int on_stack = 1;
    std::vector<int> on_heap(1000, 2);
    LAUNCH(read_first, 1, 1)(&on_stack, out.get());
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("argument 1"));
    CHECK(test::report_contains("host pointer"));
    LAUNCH(read_first, 1, 1)(out.get(), on_heap.data());
    CHECK(test::take_fault() == cudaErrorIllegalAddress);
    CHECK(test::report_contains("argument 2"));
    LAUNCH(read_first, 1, 1)(&g_static[2], out.get());
    CHECK(out[0] == 43);
    CHECK(simt::detail::register_host(on_heap.data(), 4000));
    LAUNCH(read_first, 1, 1)(on_heap.data() + 5, out.get());
    CHECK(simt::detail::unregister_host(on_heap.data()));
    CHECK(out[0] == 2);
    CHECK(test::take_fault() == 0);
}

}  // namespace
