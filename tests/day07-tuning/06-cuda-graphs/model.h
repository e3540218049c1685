/// model.h: a decoder with weights, for the tests and the benchmark.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstdint>
#include <vector>

#include "cuda_graphs.h"

/// Owns the device memory of a decoder.
class Model {
 public:
    /// @param weights  called with (matrix 0 to 2, number of floats): the weights of
    ///                 all layers of the query, the key and the output
    template <class Weights>
    Model(const DecoderShape& shape, Weights weights) : decoder_{} {
        decoder_.shape = shape;
        const int64_t width = shape.width;
        const int64_t matrices = shape.layers * width * width;
        decoder_.query_weights = upload(weights(0, matrices));
        decoder_.key_weights = upload(weights(1, matrices));
        decoder_.output_weights = upload(weights(2, matrices));
        decoder_.cache = allocate(cache_size());
        for (float** array : {&decoder_.x,
                              &decoder_.normed,
                              &decoder_.query,
                              &decoder_.key,
                              &decoder_.mixed,
                              &decoder_.delta})
            *array = allocate(width);
    }
    ~Model() {
        for (float* memory : memory_)
            (void)cudaFree(memory);
    }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const Decoder& decoder() const { return decoder_; }
    int64_t cache_size() const {
        return int64_t{decoder_.shape.layers} * decoder_.shape.positions *
               decoder_.shape.width;
    }

    /// An empty cache, and a token. Waits.
    void begin(const std::vector<float>& token) const {
        CUDA_CHECK(cudaMemset(
            decoder_.cache, 0, static_cast<size_t>(cache_size()) * sizeof(float)));
        CUDA_CHECK(cudaMemcpy(decoder_.x,
                              token.data(),
                              token.size() * sizeof(float),
                              cudaMemcpyHostToDevice));
        CUDA_CHECK(cudaDeviceSynchronize());
    }

 private:
    float* allocate(int64_t count) {
        void* memory = nullptr;
        const size_t bytes = static_cast<size_t>(count) * sizeof(float);
        CUDA_CHECK(cudaMalloc(&memory, bytes));
        memory_.push_back(static_cast<float*>(memory));
        CUDA_CHECK(cudaMemset(memory, 0xFF, bytes));
        return memory_.back();
    }
    float* upload(const std::vector<float>& values) {
        float* memory = allocate(static_cast<int64_t>(values.size()));
        CUDA_CHECK(cudaMemcpy(memory,
                              values.data(),
                              values.size() * sizeof(float),
                              cudaMemcpyHostToDevice));
        return memory;
    }

    Decoder decoder_;
    std::vector<float*> memory_;
};
