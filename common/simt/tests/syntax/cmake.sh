#!/bin/bash
# cmake.sh SIMT_CXX: CMake's own CUDA support takes simt-c++ for nvcc.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(hello LANGUAGES CXX CUDA)
add_executable(hello hello.cu host.cpp)
set_target_properties(hello PROPERTIES
    CUDA_ARCHITECTURES 80 CUDA_SEPARABLE_COMPILATION ON)
END
echo 'int in_cpp() { return 5; }' >host.cpp
cat >hello.cu <<'END'
int in_cpp();
__global__ void k(int* o) { o[threadIdx.x] = threadIdx.x; }
int main() {
    int* d;
    cudaMallocManaged(&d, 128);
    k<<<1, 32>>>(d);
    return cudaDeviceSynchronize() == cudaSuccess && d[31] == 31 ? in_cpp() - 5 : 1;
}
END
# Ninja is what the workbook installs; CMake's own choice, make, may be missing.
cmake -S . -B build -G Ninja -DCMAKE_CUDA_COMPILER="$1" >log 2>&1 ||
    { cat log; exit 1; }
cmake --build build >log 2>&1 || { cat log; exit 1; }
./build/hello
