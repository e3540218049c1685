int half_of(int x) { return x / 2; }
struct S { __device__ int f(int x) { return half_of(x); } };
int main() {}
