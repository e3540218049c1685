// expect: unknown_ptx.cu:4: error: inline PTX does not run on the CPU: "mbarrier.init.shared::cta.b64 [%0], %1;"; guard it
__global__ void k(unsigned a) {
    // a comment that keeps the line count
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(1));
}
int main() {}
