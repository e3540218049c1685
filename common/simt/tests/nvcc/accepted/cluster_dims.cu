// The clusters of a kernel, at all the places where they may stand.
// flags: -arch=sm_90
namespace one {
__global__ void __cluster_dims__(2, 1, 1) k(int* x) {
    *x = 1;
}
}  // namespace one
namespace two {
__global__ void k(int* x) {
    *x = 2;
}
}  // namespace two

__global__ void __cluster_dims__(4) declared(int* x, int n);
__global__ void declared(int* x, int) {
    *x = 4;
}

template <class T, int N = 2, class... Rest>
__cluster_dims__(N, 1) __global__ void several(T* x, Rest... rest) {
    *x = sizeof...(rest);
}

__global__ void __launch_bounds__(128) __cluster_dims__(2) same(float* x) {
    *x = 1;
}
__global__ void __cluster_dims__(4) same(int* x) {
    *x = 1;
}

void launch(int* x) {
    one::k<<<2, 1>>>(x);
    two::k<<<2, 1>>>(x);
    declared<<<4, 1>>>(x, 1);
    several<int><<<2, 1>>>(x);
    several<int, 4, float><<<4, 1>>>(x, 1.0f);
    same<<<4, 1>>>(x);
}
