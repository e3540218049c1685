// expect: kernel_result.cu:2: error: __global__ function "k" must have a void return type
__global__ int k(int* o) {
    return o[0];
}
int main() {}
