#include <cuda_fp16.h>
struct Base { int x; __device__ int get() const { return x; } };
struct Derived : Base { int host() const { return x; } __device__ int twice() const { return 2 * get(); } };
struct Overload { __device__ int f(int x) { return x; } int f(float x) { return x; } };
struct Stack { int data[4]; int size = 0; __device__ void push(int x) { data[size++] = x; } __device__ int& operator[](int i) { return data[i]; } __device__ Stack& operator+=(int x) { push(x); return *this; } };
class View {
 public:
    __host__ __device__ View(float* p, int n) : p_(p), n_(n) {}
    __device__ float& operator()(int i) const { return p_[i]; }
    int size() const { return n_; }
    __device__ int length() const { return n_; }
 private:
    float* p_;
    int n_;
};
struct Config { int tile = 4; Config() = default; static constexpr int kMax = 8; static Config host() { return {}; } };
__global__ void k(View v, int* o, Config c, half* h) {
    Derived d; d.x = 3;
    Overload f;
    Stack s; s.push(3); s += 4; s[0] = 2;
    v(3) = v(2) + d.get() + d.twice() + f.f(3);
    Config e;
    Config g = c;
    o[0] = v.length() + e.tile + g.tile + Config::kMax + s[1];
    h[0] = h[1] + h[2] * __float2half(2.0f);
    half x = h[3]; x += h[2];
    int3 a = make_int3(1, 2, 3); int3 b = a;
    o[1] = a.x + b.y;
}
int main() { View v(nullptr, 3); Config c = Config::host(); Derived d{}; Overload f; return v.size() + c.tile + d.host() + f.f(2.0f); }
