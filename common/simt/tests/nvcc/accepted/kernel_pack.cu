template <class... T>
__global__ void k(int* o, T... x) {
    o[0] = (x + ... + 0);
}
int main() { k<<<1, 1>>>(static_cast<int*>(nullptr), 1, 2); }
