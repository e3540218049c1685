// expect: __global__ function "k" must have a void return type
__global__ auto k(int* o) {  // here
    o[0] = 1;
}
int main() {}
