// Mutant: waits for the stream while it is being captured
// Rejected by: a step of which the result is known
#include "layers.h"

class MutantStepper : public Stepper {
 public:
    explicit MutantStepper(const Decoder& decoder) : decoder_(decoder) {
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_layer(decoder_, layer, {0, nullptr}, lanes_);
            CUDA_CHECK(cudaStreamSynchronize(lanes_.main));
        });
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_layer(decoder_, layer, {position, nullptr}, lanes_);
        });
        update(executable_, graph);
        CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
    }

 private:
    Decoder decoder_;
    Lanes lanes_;
    Executable executable_;
};

std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    return std::make_unique<MutantStepper>(decoder);
}
