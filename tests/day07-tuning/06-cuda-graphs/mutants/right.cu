// The right make_stepper that the .diff files edit.
#include <wb/check.h>

#include "cuda_graphs.h"
#include "decoder.h"
#include "graph.h"

/// The streams that a step is captured from, and the events between them.
struct Lanes {
    Lane main, side;
    Event normed, appended;
};

static void queue_layer(const Decoder& d, int layer, Position position, Lanes& lanes) {
    launch_norm(d, lanes.main);
    lanes.normed.record(lanes.main);
    lanes.normed.hold(lanes.side);
    launch_project(d, d.key_weights, layer, d.normed, d.key, lanes.side);
    launch_append(d, layer, position, lanes.side);
    launch_project(d, d.query_weights, layer, d.normed, d.query, lanes.main);
    lanes.appended.record(lanes.side);
    lanes.appended.hold(lanes.main);
    launch_attend(d, layer, position, lanes.main);
    launch_project(d, d.output_weights, layer, d.mixed, d.delta, lanes.main);
    launch_add(d, lanes.main);
}

/// A step as a graph. Nothing is run.
Graph capture_step(const Decoder& d, Position position, Lanes& lanes) {
    Graph graph;
    CUDA_CHECK(cudaStreamBeginCapture(lanes.main, cudaStreamCaptureModeThreadLocal));
    for (int layer = 0; layer < d.shape.layers; ++layer)
        queue_layer(d, layer, position, lanes);
    CUDA_CHECK(cudaStreamEndCapture(lanes.main, graph.put()));
    return graph;
}

class UpdatedStepper : public Stepper {
 public:
    explicit UpdatedStepper(const Decoder& decoder) : decoder_(decoder) {
        const Graph graph = capture_step(decoder_, {0, nullptr}, lanes_);
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        update(executable_, capture_step(decoder_, {position, nullptr}, lanes_));
        CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
    }

 private:
    Decoder decoder_;
    Lanes lanes_;
    Executable executable_;
};

std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    check_shape(decoder.shape);
    return std::make_unique<UpdatedStepper>(decoder);
}
