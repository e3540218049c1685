// expect: calling a __device__ function("atomicAdd") from a __host__ function("main") is not allowed
int main() {
    int x = 0;
    atomicAdd(&x, 1);  // here
    return x;
}
