// expect: __global__ function "k" must have a void return type
__global__ int k(int* o) {  // here
    return o[0];
}
int main() {}
