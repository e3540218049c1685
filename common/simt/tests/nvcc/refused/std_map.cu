// expect: calling a __host__ function("std::map") from a __global__ function("k") is not allowed
#include <map>
__global__ void k() { std::map<int, int> m; }  // here
int main() {}
