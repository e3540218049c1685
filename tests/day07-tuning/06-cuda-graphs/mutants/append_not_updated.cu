// Mutant: only the attention is told the new position
// Rejected by: every step is what launching one by one gives
#include "layers.h"

/// A layer that appends at position 0.
static void queue_old_append(const Decoder& d, int layer, int position, Lanes& lanes) {
    launch_norm(d, lanes.main);
    launch_project(d, d.key_weights, layer, d.normed, d.key, lanes.main);
    launch_append(d, layer, {0, nullptr}, lanes.main);
    launch_project(d, d.query_weights, layer, d.normed, d.query, lanes.main);
    finish_layer(d, layer, {position, nullptr}, lanes);
}

class MutantStepper : public Stepper {
 public:
    explicit MutantStepper(const Decoder& decoder) : decoder_(decoder) {
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_old_append(decoder_, layer, 0, lanes_);
        });
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_old_append(decoder_, layer, position, lanes_);
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
