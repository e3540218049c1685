// flags: -rdc=true
__global__ void child(int* o) { o[0] = 1; }
__global__ void k(int* o) {
    child<<<1, 1>>>(o);
}
int main() {}
