const int a = 3;
const int b = a * 2 + 1;
const unsigned c = sizeof(int) * b;
const float d = 2.0f * 3;
const bool e = a > b;
__global__ void k(float* o) {
    o[0] = a + b + c + e + d;
}
int main() {}
