constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
constexpr int kBlocks = ceil_div(100, 32);
const int kMore = 5;
const float kScale = 0.5f;
constexpr float kHalf = 0.5f;
__global__ void k(float* o) {
    o[0] = kBlocks + kMore + kHalf;
}
int main() {}
