// expect: does not have a constant initializer
int next() { return 3; }
__device__ int x = next();  // here
int main() {}
