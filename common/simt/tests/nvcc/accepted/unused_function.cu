int half_of(int x) { return x / 2; }
static __device__ int f(int x) { return half_of(x); }
int main() {}
