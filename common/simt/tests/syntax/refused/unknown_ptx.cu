// expect: unknown_ptx.cu:4: error: inline PTX does not run on the CPU: "wgmma.fence.sync.aligned;"; guard it
__global__ void k(unsigned a) {
    // a comment that keeps the line count
    asm volatile("wgmma.fence.sync.aligned;" ::"r"(a));
}
int main() {}
