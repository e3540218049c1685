// Mutant: right, but a graph is instantiated for each step
// Rejected by: a graph is instantiated once
#include "../layers.h"

class MutantStepper : public Stepper {
 public:
    explicit MutantStepper(const Decoder& decoder) : decoder_(decoder) {}

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_layer(decoder_, layer, {position, nullptr}, lanes_);
        });
        Executable executable;
        CUDA_CHECK(cudaGraphInstantiate(executable.put(), graph.get(), 0));
        CUDA_CHECK(cudaGraphLaunch(executable.get(), stream));
    }

 private:
    Decoder decoder_;
    Lanes lanes_;
};

std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    return std::make_unique<MutantStepper>(decoder);
}
