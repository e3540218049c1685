using Nothing = void;
__global__ Nothing k(int* o) {
    o[0] = 1;
}
int main() {}
