__global__ void k(int* o) { o[0] = 1; }
int main() {
    k<<<1>>>(nullptr);
}
