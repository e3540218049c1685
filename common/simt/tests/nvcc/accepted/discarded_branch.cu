int half_of(int x) { return x / 2; }
template <bool B>
__global__ void k(int* o) {
    if constexpr (B) o[0] = half_of(3);
}
int main() { k<false><<<1, 1>>>(nullptr); }
