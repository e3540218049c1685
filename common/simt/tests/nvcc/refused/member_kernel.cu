// expect: __global__ function "k" must not be a member function
struct S {
    __global__ void k(int* o) { o[0] = 1; }  // here
};
int main() {}
