// A local variable of a template's type hides the host's, also where it is declared.
#include <cuda/std/array>

int* data;
int count;
__global__ void k(int* o) {
    cuda::std::array<int, 2> data{};
    cuda::std::array<int, 3> count = {1, 2, 3};
    o[0] = data[0] + count[1];
}
int main() { k<<<1, 1>>>(data); }
