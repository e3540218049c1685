constexpr int half_of(int x) { return x / 2; }
__global__ void k(int* o) {
    o[0] = sizeof(half_of(3));
    decltype(half_of(3)) y = 3;
    o[1] = y + noexcept(half_of(3));
}
int main() {}
