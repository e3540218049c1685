// expect: __global__ function "k" cannot be marked constexpr
constexpr __global__ void k(int* o) {  // here
    o[0] = 1;
}
int main() {}
