// expect: calling a __host__ function("operator+") from a __global__ function("k") is not allowed
struct Vec {
    float x, y;
};
Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
__global__ void k(Vec* v) {
    v[0] = v[1] + v[2];  // here
}
int main() {}
