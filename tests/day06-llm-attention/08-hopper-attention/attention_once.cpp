// attention_once.cpp: attention of numbers in a file, for torch_errors.py, which
// compares what comes out with PyTorch and with double.
//
//     day06_attention_once KERNEL TYPE B H N D full|causal IN OUT
//
// KERNEL   hopper_attention or tensor_core_attention
// TYPE     fp16 or bf16
// IN       q, k and v one after the other, each [B, H, N, D]; OUT gets o
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <wb/check.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "hopper_attention.h"
#include "tensor_core_attention.h"

namespace {

/// Numbers of one tensor; the type is that of their bits.
std::vector<uint16_t> read(std::istream& in, int64_t count) {
    std::vector<uint16_t> bits(static_cast<size_t>(count));
    in.read(reinterpret_cast<char*>(bits.data()), count * 2);
    if (!in) throw std::runtime_error("the input has fewer numbers than the sizes say");
    return bits;
}

template <class T>
T* to_device(const std::vector<uint16_t>& bits) {
    void* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, bits.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(
        memory, bits.data(), bits.size() * sizeof(T), cudaMemcpyHostToDevice));
    return static_cast<T*>(memory);
}

template <class T>
void run(const std::string& kernel,
         const wb::AttentionShape& shape,
         const std::string& in_path,
         const std::string& out_path) {
    std::ifstream in(in_path, std::ios::binary);
    const T* const q = to_device<T>(read(in, shape.query_elements()));
    const T* const k = to_device<T>(read(in, shape.kv_elements()));
    const T* const v = to_device<T>(read(in, shape.kv_elements()));
    std::vector<uint16_t> result(static_cast<size_t>(shape.query_elements()));
    T* const o = to_device<T>(result);
    if (kernel == "hopper_attention") {
        hopper_attention(shape, q, k, v, o, nullptr, nullptr);
    } else if (kernel == "tensor_core_attention") {
        tensor_core_attention(shape, q, k, v, o, nullptr, nullptr);
    } else {
        throw std::runtime_error("there is no kernel " + kernel);
    }
    CUDA_CHECK(cudaMemcpy(
        result.data(), o, result.size() * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(out_path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()),
              static_cast<std::streamsize>(result.size() * sizeof(T)));
    if (!out.flush()) throw std::runtime_error("cannot write " + out_path);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 10) {
        std::fprintf(
            stderr, "usage: %s KERNEL TYPE B H N D full|causal IN OUT\n", argv[0]);
        return 2;
    }
    wb::AttentionShape shape;
    shape.batch = std::atoll(argv[3]);
    shape.query_heads = shape.kv_heads = std::atoll(argv[4]);
    shape.queries = shape.keys = std::atoll(argv[5]);
    shape.head_dim = std::atoll(argv[6]);
    shape.causal = std::string(argv[7]) == "causal";
    shape.scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
    try {
        if (std::string(argv[2]) == "fp16") {
            run<__half>(argv[1], shape, argv[8], argv[9]);
        } else {
            run<__nv_bfloat16>(argv[1], shape, argv[8], argv[9]);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
