/// host_array.h: arrays in host memory, pinned or not, for tests and the benchmark.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

/// Who the memory belongs to: the GPU's copy engines can reach pinned memory only.
enum class HostMemory { pageable, pinned };

/// n floats in host memory, poisoned with 0xFF bytes.
class HostArray {
 public:
    HostArray(int64_t n, HostMemory kind)
        : size_(static_cast<size_t>(n)), pinned_(kind == HostMemory::pinned) {
        if (pinned_) {
            CUDA_CHECK(cudaMallocHost(&data_, bytes()));
        } else {
            pageable_ = std::make_unique<float[]>(size_);
            data_ = pageable_.get();
        }
        poison();
    }
    HostArray(const std::vector<float>& values, HostMemory kind)
        : HostArray(static_cast<int64_t>(values.size()), kind) {
        std::memcpy(data_, values.data(), bytes());
    }
    ~HostArray() {
        if (pinned_) (void)cudaFreeHost(data_);
    }
    HostArray(const HostArray&) = delete;
    HostArray& operator=(const HostArray&) = delete;

    float* data() const { return data_; }
    int64_t size() const { return static_cast<int64_t>(size_); }
    float at(int64_t i) const { return data_[i]; }
    size_t bytes() const { return size_ * sizeof(float); }
    void poison() const { std::memset(data_, 0xFF, bytes()); }

    /// The values as they are now, without waiting for anybody.
    std::vector<float> now() const { return {data_, data_ + size_}; }

 private:
    size_t size_;
    bool pinned_;
    float* data_ = nullptr;
    std::unique_ptr<float[]> pageable_;
};
