// flags: --expt-relaxed-constexpr
#include <algorithm>
#include <limits>
#include <array>
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
struct P { int x; constexpr P(int y) : x(y) {} constexpr int get() const { return x; } };
__global__ void k(int* o) {
    P p(o[0]);
    std::array<int, 3> a{1, 2, 3};
    o[0] = ceil_div(o[0], 32) + std::max(o[1], 3) + std::numeric_limits<int>::max() + p.get() + a[o[1]];
}
int main() {}
