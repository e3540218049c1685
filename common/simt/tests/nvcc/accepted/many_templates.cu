#include <type_traits>
#include <utility>
template <class T> T host_only(T x) { return x; }
template <class T> struct Traits { static constexpr int size() { return sizeof(T); } };
template <class T> __host__ __device__ constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T, int N = 4> __device__ T sum(const T (&x)[N]) { T s{}; for (int i = 0; i < N; ++i) s += x[i]; return s; }
template <class T> __global__ void k(T* o, int n) {
    T x[4] = {};
    constexpr int m = ceil_div(7, 2);
    T y[ceil_div(9, 2)];
    if constexpr (std::is_same_v<T, void*>) o[0] = host_only(o[1]);
    else o[1] = sum(x) + m;
    y[0] = o[0];
    static_assert(ceil_div(4, 2) == 2);
    o[0] = ceil_div(n, 4) + y[0] + std::move(o[2]);
    extern __shared__ float s[];
    s[0] = 1;
}
__global__ void other(double* o) { extern __shared__ double t[]; o[0] = t[0]; }
template <int N> __global__ void __launch_bounds__(N, 2) bounded(int* o) { o[0] = N; }
template <class... A> __global__ void pack(A... a) { ((void)a, ...); }
template <template <class> class C, class T> __global__ void tt(C<T> c) {}
template <class T> struct Box { T x; };
namespace a { namespace { __global__ void hidden(int* o) { o[0] = 1; } } void launch() { hidden<<<1, 1>>>(nullptr); } }
struct Runner { template <class T> static void run(T* p) { k<T><<<1, 1>>>(p, 3); } void go() const { bounded<128><<<1, 128>>>(nullptr); } };
using Fn = void (*)(int*);
int main() {
    Runner::run<float>(nullptr);
    Runner().go();
    pack<<<1, 1>>>(1, 2.0f, 'c');
    tt<<<1, 1>>>(Box<int>{});
    Fn f = bounded<64>;
    f<<<1, 1>>>(nullptr);
    Fn table[] = {bounded<32>, bounded<64>};
    table[1]<<<1, 1>>>(nullptr);
    (true ? bounded<32> : bounded<64>)<<<1, 1>>>(nullptr);
    auto g = &bounded<256>;
    g<<<dim3(1), dim3(2), 0>>>(nullptr);
    a::launch();
    return host_only(Traits<int>::size());
}
