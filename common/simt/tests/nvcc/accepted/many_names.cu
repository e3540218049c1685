// flags: --extended-lambda
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
int count = 0;
int total(int x) { return x; }
float scale = 2;
int time_of(int x) { return x; }
enum Mode { fast, slow };
struct Item { int rand; int time; int exit(int x) { return x; } float scale; };
struct Point { float x, y; __host__ __device__ Point() : x(0), y(0) {} __host__ __device__ Point(float a, float b) : x(a), y(b) {} __host__ __device__ float dot(const Point& p) const { return x * p.x + y * p.y; } void print() const { printf("%f", x); } };
__host__ __device__ inline Point operator*(float a, Point b) { return {a * b.x, a * b.y}; }
Point operator/(Point a, float b) { return {a.x / b, a.y / b}; }
__device__ float apply(float scale, int count) {
    auto total = [=](int x) { return x + count; };
    return scale * total(3);
}
template <class T> struct Pair { T a, b; __device__ T sum() const { return a + b; } };
template <> struct Pair<double> { double a, b; double sum() const { return a + b; } };
__global__ void k(int* o, Item item, Pair<int> p, float* scale, int n) {
    float sum = 0, count = 0;
    for (int i = 0; i < n; ++i) count += scale[i];
    int time = item.time + item.rand;
    Point a, b(1, 2), c{3, 4}, d = Point(5, 6);
    Point e = 2.0f * a;
    sum += a.dot(b) + Point(1, 2).dot(c) + d.x / e.y;
    o[0] = p.sum() + time + sum + count + apply(1, 2);
    int (*total)(int) = nullptr;
    if (n > 100) o[1] = total(3);
    constexpr int N = 4;
    float r[N], s[N * 2], t[sizeof(int)];
    const int m = 3; float u[m];
    r[0] = s[1] = t[2] = u[0] = 1;
    goto exit;
exit:
    o[2] = r[0] + s[1] + t[2] + u[0];
}
template <class F> void on_host(F f) { f(3); }
int main() {
    std::vector<int> v(3);
    on_host([&](int x) { count += x; v[0] = std::max(x, total(2)); });
    int data[3] = {1, 2, 3};
    int i = data[total(1)];
    Point p = Point(1, 2) / 3;
    p.print();
    k<<<1, 1>>>(nullptr, Item{}, Pair<int>{}, nullptr, i);
    try { throw 1; } catch (int) {}
    float vla[i]; vla[0] = 1;
    return time_of(fast) + vla[0];
}
