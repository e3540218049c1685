// expect: int
__global__ void k(int* o) { o[0] = 1; }
int main() {
    const char* text = "no int*";
    k<<<1, 1>>>(text);  // here
}
