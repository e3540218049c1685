// expect: attribute.cu:2: error: __block_size__ is not supported by the simulator; guard it
__global__ void __block_size__((32, 1, 1)) k() {}
int main() {}
