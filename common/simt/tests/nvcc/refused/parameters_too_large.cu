// expect: formal parameter space overflowed
struct Big { char x[32765]; };
__global__ void k(Big b) {}  // here
int main() {}
