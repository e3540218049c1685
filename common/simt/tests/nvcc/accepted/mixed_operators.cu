struct V { float x; };
__host__ __device__ V operator+(V a, V b) { return {a.x + b.x}; }
V operator-(V a, V b) { return {a.x - b.x}; }
__global__ void k(V* v, int* p, int* q) { v[0] = v[1] + v[2]; v[0].x = v[1].x - v[2].x; v[3].x = p - q; }
int main() {}
