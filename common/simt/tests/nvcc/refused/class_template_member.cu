// expect: calling a __host__ function("Matrix::at") from a __global__ function("k") is not allowed
template <class T>
struct Matrix {
    T* data;
    int cols;
    T& at(int r, int c) { return data[r * cols + c]; }
};
__global__ void k(Matrix<float> m) {
    m.at(0, 1) = 1;  // here
}
int main() {}
