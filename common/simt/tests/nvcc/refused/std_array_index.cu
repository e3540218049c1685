// expect: calling a constexpr __host__ function("std::array::operator[]") from a __global__ function("k") is not allowed
#include <array>
__global__ void k(int* o, int i) {
    std::array<int, 4> a{1, 2, 3, 4};
    o[0] = a[i];  // here
}
int main() {}
