#include <utility>
template <class T> __device__ T pass(T&& x) { return std::forward<T>(x); }
__global__ void k(int* o) {
    int x = std::move(o[0]);
    o[1] = pass(3) + x;
}
int main() { k<<<1, 1>>>(nullptr); }
