// expect: calling a __host__ function("helper") from a __global__ function("k") is not allowed
int helper(int x) { return x + 1; }
__global__ void k(int* o) {
    o[0] = helper(o[0]);  // here
}
int main() {}
