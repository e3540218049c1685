// expect: calling a constexpr __host__ function("std::numeric_limits<float>::max") from a __global__ function("k") is
#include <limits>
__global__ void k(float* o) {
    o[0] = std::numeric_limits<float>::max();  // here
}
int main() {}
