// expect: calling a constexpr __host__ function("std::max") from a __global__ function("k") is not allowed
#include <algorithm>
__global__ void k(int* o) {
    o[0] = std::max(o[0], o[1]);  // here
}
int main() {}
