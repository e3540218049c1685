// expect: undeclared_name
__global__ void k(int* o) {
    __shared__ int s[4];
    o[0] = undeclared_name + s[0];  // here
}
int main() { k<<<1, 1>>>(nullptr); }
