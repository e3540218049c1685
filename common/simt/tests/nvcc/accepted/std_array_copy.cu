#include <array>
__global__ void k(int* o, std::array<int, 4> s) {
    std::array<int, 4> a{1, 2, 3, 4};
    std::array<int, 4> b = a;
    b = s;
    o[0] = sizeof(b);
}
int main() {}
