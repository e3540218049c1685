// Mutant: the position comes from pinned memory, which the next step changes too early
// Rejected by: any order of the streams that the events allow
#include "../layers.h"

class MutantStepper : public Stepper {
 public:
    explicit MutantStepper(const Decoder& decoder) : decoder_(decoder) {
        CUDA_CHECK(cudaMalloc(&position_, sizeof(int)));
        CUDA_CHECK(cudaMallocHost(&pinned_, sizeof(int)));
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_layer(decoder_, layer, {0, position_}, lanes_);
        });
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
    }

    ~MutantStepper() override {
        (void)cudaFree(position_);
        (void)cudaFreeHost(pinned_);
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        *pinned_ = position;
        CUDA_CHECK(cudaMemcpyAsync(
            position_, pinned_, sizeof(int), cudaMemcpyHostToDevice, stream));
        CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
    }

 private:
    Decoder decoder_;
    Lanes lanes_;
    Executable executable_;
    int* position_ = nullptr;  // on the device
    int* pinned_ = nullptr;
};

std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    return std::make_unique<MutantStepper>(decoder);
}
