// expect: calling a __device__ function("helper") from a __host__ function("main") is not allowed
__device__ int helper(int x) { return x + 1; }
int main() {
    return helper(2);  // here
}
