// expect: lockstep.cu:4: warning: these statements rely on the lanes of a warp running in lockstep
__global__ void k(int* o) {
    volatile int* s = o;
    s[threadIdx.x] += s[threadIdx.x + 2];
    s[threadIdx.x] += s[threadIdx.x + 1];
}
int main() {}
