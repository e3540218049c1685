// expect: using std::cout in a __device__ function("show") is not allowed: use printf
#include <iostream>
__device__ void show(int x) {
    std::cout << x;  // here
}
int main() {}
