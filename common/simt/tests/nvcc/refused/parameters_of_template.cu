// expect: formal parameter space overflowed
template <int N> struct Big { int x[N]; };
template <int N>
__global__ void k(Big<N> b) {}  // here
int main() { k<<<1, 1>>>(Big<9000>{}); }
