// Launches in every place and shape. k<<<1, 1>>>(in a comment);
/* k<<<1, 1>>>(nor here); */
#include <cuda_runtime.h>

#include <functional>
#include <tuple>

#include "check.h"

#define GRID 2
#define RUN(k, n, ...) k<<<GRID, n>>>(__VA_ARGS__)
#define CHECKED(call)                                                        \
    do {                                                                     \
        call;                                                                \
        if (cudaGetLastError() != cudaSuccess) std::puts("launch error");    \
    } while (0)

namespace outer {
namespace inner {
template <typename T, int N, bool B>
__global__ void k(T* o, T v) {
    if (B) o[threadIdx.x] = v * T(N);
}
}  // namespace inner
}  // namespace outer

template <int A, bool B>
__global__ void sum(int* o) {
    o[threadIdx.x] = A + B;
}
__global__ void plain(int* o, int v);
__global__ void plain(int* out, int value) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void nothing() {}
__global__ void dependent(int* o) {
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    o[0] = 8;
}
__global__ void pointers(int* o, const float* a, const float* b, size_t n) {
    o[0] = (a == nullptr) + 2 * (b == nullptr) + 10 * static_cast<int>(n);
}
struct Point {
    int x, y;
};
__global__ void by_struct(int* o, Point p, dim3 d) {
    o[0] = 100 * p.x + 10 * p.y + d.x;
}
__global__ void with_default(int* o, int v = 7, float* unused = NULL) {
    o[0] = v + (unused == nullptr);
}
template <typename T>
__global__ void deduced(T* o, T v, const T* maybe, int n) {
    o[0] = v + (maybe == nullptr ? 1 : 0) + n;
}
template <typename T, typename U = int>
__global__ void defaulted(T* o, U v) {
    o[0] = T(v) + sizeof(U);
}
template <typename... Ts>
__global__ void variadic(int* o, Ts... values) {
    o[0] = (0 + ... + values);
}
__global__ void overloaded(int* o, int v) { o[0] = v; }
__global__ void overloaded(float* o, float v) { o[0] = 2 * v; }
template <class F>
__global__ void apply(int* o, F f) {
    o[threadIdx.x] = f(threadIdx.x);
}
template <int kSize, template <typename> class Op, typename T = int>
__global__ void template_template(T* o) {
    o[0] = Op<T>()(T(kSize));
}
template <typename T>
struct Twice {
    __device__ T operator()(T x) const { return 2 * x; }
};
__global__ void array_argument(int* o, const int* values) { o[0] = values[2]; }
__global__ void by_reference(int* o, const int& v) { o[0] = v; }

// References of kernels whose arguments the launch deduces.
template <class T>
__global__ void increment(T& x) {
    x += 1;
}
template <class T, int N>
__global__ void fill_array(T (&a)[N], T v) {
    a[threadIdx.x % N] = v;
}
template <class T>
__global__ void add_to(const T& a, int b, T& sum) {
    sum = a + b;
}
template <class... T>
__global__ void add_to_all(int v, T&... x) {
    ((x += v), ...);
}
template <class T>
__global__ void is_null(T* p, T& x) {
    x = p == nullptr;
}
__global__ void of_type(int& x) { x = 1; }
__global__ void of_type(float& x) { x = 2; }
__global__ void by_default(int& x, int v = 7) { x = v; }

/// Counts what is done to its objects, in kernels too.
struct Counted {
    static inline int made = 0;
    int value;
    explicit Counted(int v) : value(v) {}
    __host__ __device__ Counted(const Counted& other) : value(other.value) { ++*count(); }
    __host__ __device__ ~Counted() {}
    __host__ __device__ static int* count() { return &made; }
};
template <class T>
__global__ void object_value(T x, int* o) {
    o[threadIdx.x] = x.value;
}
extern "C" __global__ void c_linkage(int* o) { o[0] = 3; }
static __global__ void internal(int* o) { o[0] = 4; }
namespace {
__global__ __launch_bounds__(64) void anonymous(int* o) { o[0] = 5; }
}  // namespace
__global__ void __launch_bounds__(256, 2) bounds_after_type(int* __restrict__ o) {
    o[0] = 6;
}

template <int N>
void launch_from_template(int* d) {
    sum<N, (N > 3)><<<1, 4>>>(d);
}
template <typename T>
struct Launcher {
    static void run(T* d) { outer::inner::k<T, 3, true><<<1, 1>>>(d, T(2)); }
    template <int N>
    void member(T* d) const {
        outer::inner::k<T, N, true><<<1, 1, 0, stream>>>(d, T(2));
    }
    cudaStream_t stream = nullptr;
};
template <void (*Kernel)(int*, int)>
void launch_argument(int* d) {
    Kernel<<<1, 4>>>(d, 21);
}
struct Holder {
    int* d;
    int value;
    void go() const { plain<<<dim3(1), dim3{4}>>>(d, value); }
};
using Function = void (*)(int*, int);
Function pick() { return plain; }
void run(void (*kernel)(int*, int), int* d) { kernel<<<1, 4>>>(d, 31); }

// A member function may have a kernel's name.
__global__ void fill(int* out) { *out = 7; }
class Filled {
 public:
    explicit Filled(int* out) : out_(out) { fill(); }
    void fill() { ::fill<<<1, 1>>>(out_); }

 private:
    int* out_;
};

void references() {
    DeviceArray<int> ints(64);
    int* d = ints;
    int* managed;
    cudaMallocManaged(&managed, 3 * sizeof(int));
    managed[2] = 77;
    int host = 3;
    increment<<<1, 1>>>(managed[2]);
    EXPECT(managed[2], 78);
    int(*four)[4];
    cudaMallocManaged(&four, sizeof *four);
    fill_array<<<1, 4>>>(*four, 9);
    EXPECT((*four)[3], 9);
    add_to<<<1, 1>>>(managed[2], 2, managed[1]);
    EXPECT(managed[1], 80);
    add_to_all<<<1, 1>>>(5, managed[1], managed[2]);
    EXPECT(managed[1], 85);
    EXPECT(managed[2], 83);
    is_null<int><<<1, 1>>>(nullptr, managed[0]);
    EXPECT(managed[0], 1);
    float* real;
    cudaMallocManaged(&real, sizeof *real);
    of_type<<<1, 1>>>(*real);
    EXPECT(*real, 2);
    of_type<<<1, 1>>>(managed[2]);
    EXPECT(managed[2], 1);
    by_default<<<1, 1>>>(managed[2]);
    EXPECT(managed[2], 7);
    Counted counted(6);
    object_value<<<1, 64>>>(counted, d);  // copied on the host, not in 64 threads
    EXPECT(ints.at(63), 6);
    EXPECT(Counted::made < 4, true);
    add_to<<<1, 1>>>(host, 2, managed[1]);  // memory of the host: as on a GPU
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

int main() {
    DeviceArray<int> ints(256);
    DeviceArray<float> floats(256);
    int* d = ints;
    float* f = floats;
    const char* text = "plain<<<1, 4>>>(d, 99); // \" __shared__ int x;";
    const char* raw = R"x(plain<<<1, 4>>>(d, 98); ")" )x";
    EXPECT(text[0] + raw[0], 2 * 'p');
    int big = 1'000'000;
    EXPECT(big, 1000000);

    plain<<<1, 4>>>(ints, 1);  // converts at the launch
    EXPECT(ints.at(3), 1);
    outer::inner::k<float, 3, true><<<1, 32>>>(f, 2.0f);
    EXPECT(floats.at(31), 6);
    ::outer::inner::k<int, (4 > 3 ? 2 : 1), sizeof(int) == 4> <<< 1, 32 >>> (d, 5);
    EXPECT(ints.at(31), 10);
    outer::inner::k<int,
                    7,
                    true>
        <<<dim3(1, 1),  // a comment with >>>
           32 /* <<< */
           >>>(d,
               3);
    EXPECT(ints.at(0), 21);
    sum<5 << 1, true><<<1 << 0, 64 >> 4>>>(d);
    EXPECT(ints.at(3), 11);
    RUN(plain, 4, d, 7);
    EXPECT(ints.at(7), 7);
    CHECKED(RUN(plain, 4, d, 8));
    EXPECT(ints.at(7), 8);
    CHECKED((plain<<<1, 4, 0, nullptr>>>(d, 9)));
    EXPECT(ints.at(3), 9);

    // Grid and block in every form.
    plain<<<{1, 2}, {3}>>>(d, 41);
    EXPECT(ints.at(2), 41);
    dim3 grid(2), block = {4};
    plain<<<grid, block, NULL, NULL>>>(d, 42);
    EXPECT(ints.at(7), 42);
    plain<<<1, 4, 0, 0>>>(d, 43);
    EXPECT(ints.at(3), 43);
    int n = 1000;
    plain<<<ceil(n / 256.0), 8>>>(d, 44);
    EXPECT(ints.at(31), 44);

    // Callees that are not plain names.
    auto kernel = plain;
    kernel<<<1, 4>>>(d, 12);
    EXPECT(ints.at(3), 12);
    void (*table[])(int*, int) = {plain, plain};
    table[1]<<<1, 4>>>(d, 13);
    EXPECT(ints.at(3), 13);
    (n ? kernel : plain)<<<1, 4>>>(d, 14);
    EXPECT(ints.at(3), 14);
    (*kernel)<<<1, 4>>>(d, 15);
    EXPECT(ints.at(3), 15);
    pick()<<<1, 4>>>(d, 16);
    EXPECT(ints.at(3), 16);
    struct {
        Function member;
    } object = {plain};
    object.member<<<1, 4>>>(d, 17);
    EXPECT(ints.at(3), 17);
    run(plain, d);
    EXPECT(ints.at(3), 31);
    launch_argument<plain>(d);
    EXPECT(ints.at(3), 21);

    // Statements around launches.
    if (n == 1000) nothing<<<1, 1>>>(); else nothing<<<2, 1>>>();
    if (n)
        plain<<<1, 4>>>(d, 18);
    else
        plain<<<1, 4>>>(d, 19);
    EXPECT(ints.at(3), 18);
    for (int i = 0; i < 3; ++i) plain<<<1, 4>>>(d, i);
    EXPECT(ints.at(3), 2);
    n++, plain<<<1, 4>>>(d, 20), n--;
    EXPECT(ints.at(3), 20);
    n ? plain<<<1, 4>>>(d, 22) : nothing<<<1, 1>>>();
    EXPECT(ints.at(3), 22);
    switch (n) {
        case 1000: plain<<<1, 4>>>(d, 23); break;
        default: nothing<<<1, 1>>>();
    }
    EXPECT(ints.at(3), 23);
    [&] { plain<<<1, 4>>>(d, 24); }();
    EXPECT(ints.at(3), 24);
    std::function<void(int)> later = [&](int v) { plain<<<1, 4>>>(d, v); };
    later(25);
    EXPECT(ints.at(3), 25);
    launch_from_template<4>(d);
    EXPECT(ints.at(3), 5);
    Holder{d, 33}.go();
    EXPECT(ints.at(3), 33);
    Launcher<float>::run(f);
    EXPECT(floats.at(0), 6);
    Launcher<int>().member<9>(d);
    EXPECT(ints.at(0), 18);

    // Arguments.
    int counter = 0;
    plain<<<1, 4>>>(d, ++counter);
    EXPECT(counter, 1);
    pointers<<<1, 1>>>(d, NULL, 0, 3);
    EXPECT(ints.at(0), 33);
    pointers<<<1, 1>>>(d, nullptr, f, -1 + 3);
    EXPECT(ints.at(0), 21);
    by_struct<<<1, 1>>>(d, {1, 2}, 3);
    EXPECT(ints.at(0), 123);
    by_struct<<<1, 1>>>(d, Point{4, 5}, {6, 1, 1});
    EXPECT(ints.at(0), 456);
    with_default<<<1, 1>>>(d);
    EXPECT(ints.at(0), 8);
    with_default<<<1, 1>>>(d, 9);
    EXPECT(ints.at(0), 10);
    with_default<<<1, 1>>>(d, 9, NULL);
    EXPECT(ints.at(0), 10);
    deduced<<<1, 1>>>(d, 5, (const int*)nullptr, 0);
    EXPECT(ints.at(0), 6);
    deduced<int><<<1, 1>>>(d, 5, NULL, 0);
    EXPECT(ints.at(0), 6);
    defaulted<<<1, 1>>>(d, 2.0);
    EXPECT(ints.at(0), 10);
    defaulted<int><<<1, 1>>>(d, 'a');
    EXPECT(ints.at(0), 'a' + 1);
    variadic<<<1, 1>>>(d, 1, 2, 3L);
    EXPECT(ints.at(0), 6);
    overloaded<<<1, 1>>>(d, 4);
    EXPECT(ints.at(0), 4);
    overloaded<<<1, 1>>>(f, 4.0f);
    EXPECT(floats.at(0), 8);
    int offset = 10;
    apply<<<1, 8>>>(d, [=] __device__(int i) { return i + offset; });
    EXPECT(ints.at(7), 17);
    apply<<<1, 8>>>(d, Twice<int>{});
    EXPECT(ints.at(7), 14);
    template_template<8, Twice><<<1, 1>>>(d);
    EXPECT(ints.at(0), 16);
    int* managed;
    cudaMallocManaged(&managed, 3 * sizeof(int));
    managed[2] = 77;
    array_argument<<<1, 1>>>(d, managed);
    EXPECT(ints.at(0), 77);
    by_reference<<<1, 1>>>(d, managed[2]);
    EXPECT(ints.at(0), 77);
    auto [first, second] = std::make_tuple(d, 44);
    plain<<<1, 4>>>(first, second);
    EXPECT(ints.at(3), 44);
    c_linkage<<<1, 1>>>(d);
    EXPECT(ints.at(0), 3);
    internal<<<1, 1>>>(d);
    EXPECT(ints.at(0), 4);
    anonymous<<<1, 1>>>(d);
    EXPECT(ints.at(0), 5);
    bounds_after_type<<<1, 1>>>(d);
    EXPECT(ints.at(0), 6);
    dependent<<<1, 1>>>(d);
    EXPECT(ints.at(0), 8);
    Filled filled(d);
    EXPECT(ints.at(0), 7);

    int x = 64;
    if ((x >> 3) > 2) x >>= 1;
    EXPECT(x, 32);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    references();
    return failures != 0;
}
