// expect: calling a constexpr __host__ function("std::sort") from a __global__ function("k") is not allowed
#include <algorithm>
__global__ void k(int* o) {
    std::sort(o, o + 4);  // here
}
int main() {}
