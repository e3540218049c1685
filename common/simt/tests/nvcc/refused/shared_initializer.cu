// expect: an initializer is not allowed for the __shared__ variable "x"
__global__ void k(int* o) {
    __shared__ int x = 5;  // here
    o[0] = x;
}
int main() {}
