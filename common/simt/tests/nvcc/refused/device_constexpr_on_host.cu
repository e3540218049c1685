// expect: calling a constexpr __device__ function("half_of") from a __host__ function("main") is not allowed
__device__ constexpr int half_of(int x) { return x / 2; }
int main(int argc, char**) {
    return half_of(argc);  // here
}
