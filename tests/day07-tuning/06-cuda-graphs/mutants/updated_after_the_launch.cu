// Mutant: each launch has the position of the step before
// Rejected by: every step is what launching one by one gives
#include "layers.h"

class MutantStepper : public Stepper {
 public:
    explicit MutantStepper(const Decoder& decoder) : decoder_(decoder) {
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_layer(decoder_, layer, {0, nullptr}, lanes_);
        });
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_layer(decoder_, layer, {position, nullptr}, lanes_);
        });
        update(executable_, graph);
    }

 private:
    Decoder decoder_;
    Lanes lanes_;
    Executable executable_;
};

std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    return std::make_unique<MutantStepper>(decoder);
}
