struct Pair {
    int a;
    __device__ Pair() : a(3) {}
};
__global__ void k(int* o) {
    __shared__ Pair p;
    o[0] = p.a;
}
int main() {}
