// expect: calling a __host__ function("operator+") from a __global__ function("k") is not allowed
float3 operator+(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__global__ void k(float3* v) {
    v[0] = v[1] + v[2];  // here
}
int main() {}
