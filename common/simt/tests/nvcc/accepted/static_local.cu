__global__ void k(int* o) {
    static int n = 0;
    o[0] = n++;
}
int main() {}
