#include <wb/testing/guarded_buffer.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace wb::testing {
namespace {

constexpr std::size_t kCanaryBytes = 1024;
constexpr unsigned char kPoison = 0xFF;

#ifdef SIMT_CPU
constexpr std::size_t kBackBytes = 0;  // the memory ends at an inaccessible page
#else
constexpr std::size_t kBackBytes = kCanaryBytes;
#endif

bool is_asked_for_none = false;

// Before the learner's code can set the variable.
[[gnu::constructor(101)]] void read_environment() {
    const char* const choice = std::getenv("WB_CANARIES");
    is_asked_for_none = choice != nullptr && std::strcmp(choice, "0") == 0;
}

}  // namespace

bool canaries_wanted() {
#ifdef SIMT_CPU
    if (simt::check::active()) return false;  // the checker sees the true bounds
#endif
    return !is_asked_for_none;
}

GuardedBuffer::GuardedBuffer(std::size_t bytes,
                             std::size_t shift,
                             bool canaries,
                             std::size_t behind)
    : bytes_(bytes),
      front_((canaries ? kCanaryBytes : 0) + shift),
      back_((canaries ? kBackBytes : 0) + behind) {
    if (front_ + bytes_ + back_ == 0) return;
    CUDA_CHECK(cudaMalloc(&base_, front_ + bytes_ + back_));
    poison();
}

GuardedBuffer::~GuardedBuffer() {
    (void)cudaFree(
        base_);  // a destructor cannot throw; a broken context is told elsewhere
}

void GuardedBuffer::poison() {
    if (base_ == nullptr) return;
    CUDA_CHECK(cudaMemset(base_, kPoison, front_ + bytes_ + back_));
#ifdef SIMT_CPU
    // To the checker a poisoned element is one that nobody has written.
    simt::check::forget(base_, front_ + bytes_ + back_);
#endif
}

void GuardedBuffer::upload(const void* host) {
    if (bytes_ == 0) return;
    CUDA_CHECK(cudaMemcpy(data(), host, bytes_, cudaMemcpyHostToDevice));
}

void GuardedBuffer::download(void* host) const {
    if (bytes_ == 0) return;
    CUDA_CHECK(cudaMemcpy(host, data(), bytes_, cudaMemcpyDeviceToHost));
}

std::optional<std::int64_t> GuardedBuffer::damage() const {
    if (base_ == nullptr) return std::nullopt;
    std::vector<unsigned char> zone(front_ > back_ ? front_ : back_);
    const auto damaged = [&](std::size_t offset, std::size_t size) -> std::int64_t {
        if (size == 0) return -1;
        CUDA_CHECK(
            cudaMemcpy(zone.data(), base_ + offset, size, cudaMemcpyDeviceToHost));
        for (std::size_t i = 0; i < size; ++i) {
            if (zone[i] != kPoison) return static_cast<std::int64_t>(i);
        }
        return -1;
    };
    if (damaged(0, front_) >= 0) return -1;
    const std::int64_t behind = damaged(front_ + bytes_, back_);
    if (behind >= 0) return behind;
    return std::nullopt;
}

}  // namespace wb::testing
