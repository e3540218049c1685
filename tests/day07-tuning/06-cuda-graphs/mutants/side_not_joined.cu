// Mutant: the side stream is not joined before the capture ends
// Rejected by: a step of which the result is known
#include "layers.h"

/// A layer that forgets the side.
static void queue_unjoined(const Decoder& d,
                           int layer,
                           Position position,
                           Lanes& lanes) {
    launch_norm(d, lanes.main);
    lanes.normed.record(lanes.main);
    lanes.normed.hold(lanes.side);
    launch_project(d, d.key_weights, layer, d.normed, d.key, lanes.side);
    launch_append(d, layer, position, lanes.side);
    launch_project(d, d.query_weights, layer, d.normed, d.query, lanes.main);
    finish_layer(d, layer, position, lanes);
}

class MutantStepper : public Stepper {
 public:
    explicit MutantStepper(const Decoder& decoder) : decoder_(decoder) {
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_unjoined(decoder_, layer, {0, nullptr}, lanes_);
        });
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        const Graph graph = capture_step(decoder_, lanes_, [&](int layer) {
            queue_unjoined(decoder_, layer, {position, nullptr}, lanes_);
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
