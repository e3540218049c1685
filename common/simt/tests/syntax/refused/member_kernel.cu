// expect: member_kernel.cu:3: error: __global__ function "k" must not be a member function
struct S {
    __global__ void k(int* o) { o[0] = 1; }
};
int main() {}
