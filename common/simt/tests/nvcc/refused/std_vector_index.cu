// expect: calling a constexpr __host__ function("std::vector::operator[]") from a __global__ function("k") is not
#include <vector>
__global__ void k(std::vector<int> v, int* o) {
    o[0] = v[2];  // here
}
int main() {}
