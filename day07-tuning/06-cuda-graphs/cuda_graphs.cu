// cuda_graphs.cu: two hundred small kernels with one call.
#include "cuda_graphs.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include "decoder.h"
#include "graph.h"

/// The streams that a step is captured from, and the events between them.
struct Lanes {
    Lane main, side;
    Event normed, appended;
};

// #region queue
/// Queues one layer: the key goes to the cache on lanes.side, while the query is
/// computed on lanes.main, where everything else happens.
static void queue_layer(const Decoder& d, int layer, Position position, Lanes& lanes) {
    launch_norm(d, lanes.main);
    // TODO(learner): launch_project() for d.key and launch_append() on lanes.side,
    // launch_project() for d.query on lanes.main, and with the two events: the side
    // begins after the norm, and what follows here waits for the side (about 7 lines)
    launch_attend(d, layer, position, lanes.main);
    launch_project(d, d.output_weights, layer, d.mixed, d.delta, lanes.main);
    launch_add(d, lanes.main);
}
// #endregion queue

// #region capture
/// A step as a graph. Nothing is run.
static Graph capture_step(const Decoder& d, Position position, Lanes& lanes) {
    Graph graph;
    // TODO(learner): begin the capture of lanes.main (cudaStreamCaptureModeThreadLocal:
    // other threads may go on), and after the layers end it, into graph.put() (about 4
    // lines, around the loop)
    for (int layer = 0; layer < d.shape.layers; ++layer)
        queue_layer(d, layer, position, lanes);
    return graph;
}
// #endregion capture

// #region v2
/// v2: captures each step anew, which launches nothing, and takes the arguments over
/// into the graph that was instantiated once.
class UpdatedStepper : public Stepper {
 public:
    explicit UpdatedStepper(const Decoder& decoder) : decoder_(decoder) {
        const Graph graph = capture_step(decoder_, {0, nullptr}, lanes_);
        // TODO(learner): instantiate the graph, into executable_.put() (1 line)
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        // TODO(learner): capture the step with this position, update() executable_ from
        // it, and launch executable_ on `stream` (about 3 lines)
    }

 private:
    Decoder decoder_;
    Lanes lanes_;
    Executable executable_;
};
// #endregion v2

static std::unique_ptr<Stepper> make_stepper_v2(const Decoder& decoder) {
    return std::make_unique<UpdatedStepper>(decoder);
}

// #region contract
std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    check_shape(decoder.shape);
    return make_stepper_v2(decoder);
}
// #endregion contract
