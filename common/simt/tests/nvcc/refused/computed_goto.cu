// expect: address of label extension is not supported in __device__/__global__ functions
__global__ void k(int* o) {
    void* p = &&end;  // here
    goto *p;
end:
    o[0] = 1;
}
int main() {}
