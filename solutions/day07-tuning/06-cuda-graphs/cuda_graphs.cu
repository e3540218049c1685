// cuda_graphs.cu: two hundred small kernels with one call.
// #solution
//
// <Ladder of="make_stepper" at="28 layers, width 256, host" in="us">
//         us  idea                           what limits it
//   v1   937  kernels one by one             a launch for each kernel
//   v2   275  captured again, graph updated  all nodes are captured and compared
//   v3  56.1  two nodes a layer updated      a call for each of these nodes
//   v4  7.92  position in device memory      one launch of the graph
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "cuda_graphs.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

// #solution
#include <vector>

// #end
#include "decoder.h"
#include "graph.h"

// #solution
// #region v1
/// v1: launch_step(), as it is.
class PlainStepper : public Stepper {
 public:
    explicit PlainStepper(const Decoder& decoder) : decoder_(decoder) {}
    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        launch_step(decoder_, position, stream);
    }

 private:
    Decoder decoder_;
};

static std::unique_ptr<Stepper> make_stepper_v1(const Decoder& decoder) {
    return std::make_unique<PlainStepper>(decoder);
}
// #endregion v1
WB_RUNG(make_stepper, make_stepper_v1, "one by one");

// #end
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
    // #solution
    lanes.normed.record(lanes.main);
    lanes.normed.hold(lanes.side);
    launch_project(d, d.key_weights, layer, d.normed, d.key, lanes.side);
    launch_append(d, layer, position, lanes.side);
    launch_project(d, d.query_weights, layer, d.normed, d.query, lanes.main);
    lanes.appended.record(lanes.side);
    lanes.appended.hold(lanes.main);
    // #end
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
    // #solution
    CUDA_CHECK(cudaStreamBeginCapture(lanes.main, cudaStreamCaptureModeThreadLocal));
    // #end
    for (int layer = 0; layer < d.shape.layers; ++layer)
        queue_layer(d, layer, position, lanes);
    // #solution
    CUDA_CHECK(cudaStreamEndCapture(lanes.main, graph.put()));
    // #end
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
        // #solution
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
        // #end
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        // TODO(learner): capture the step with this position, update() executable_ from
        // it, and launch executable_ on `stream` (about 3 lines)
        // #solution
        update(executable_, capture_step(decoder_, {position, nullptr}, lanes_));
        CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
        // #end
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
// #solution
WB_RUNG(make_stepper, make_stepper_v2, "captured again, updated");

// #region v3
/// v3: remembers which nodes know the position: the append and the attention of each
/// layer. Only those get new arguments.
class PatchedStepper : public Stepper {
 public:
    explicit PatchedStepper(const Decoder& decoder) : decoder_(decoder) {
        Lanes lanes;
        const Position first = {0, nullptr};
        CUDA_CHECK(
            cudaStreamBeginCapture(lanes.main, cudaStreamCaptureModeThreadLocal));
        for (int layer = 0; layer < decoder.shape.layers; ++layer) {
            launch_norm(decoder, lanes.main);
            lanes.normed.record(lanes.main);
            lanes.normed.hold(lanes.side);
            launch_project(decoder,
                           decoder.key_weights,
                           layer,
                           decoder.normed,
                           decoder.key,
                           lanes.side);
            launch_append(decoder, layer, first, lanes.side);
            appends_.push_back(last_node(lanes.side));
            launch_project(decoder,
                           decoder.query_weights,
                           layer,
                           decoder.normed,
                           decoder.query,
                           lanes.main);
            lanes.appended.record(lanes.side);
            lanes.appended.hold(lanes.main);
            launch_attend(decoder, layer, first, lanes.main);
            attends_.push_back(last_node(lanes.main));
            launch_project(decoder,
                           decoder.output_weights,
                           layer,
                           decoder.mixed,
                           decoder.delta,
                           lanes.main);
            launch_add(decoder, lanes.main);
        }
        CUDA_CHECK(cudaStreamEndCapture(lanes.main, graph_.put()));
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph_.get(), 0));
    }

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        for (int layer = 0; layer < decoder_.shape.layers; ++layer)
            set_position(layer, {position, nullptr});
        CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
    }

 private:
    /// All arguments must be given again, not only the one that changes.
    void set_position(int layer, Position position) {
        const auto at = static_cast<size_t>(layer);
        int width = decoder_.shape.width;
        float* cache = cache_of(decoder_, layer);
        void* append[] = {&decoder_.key, &cache, &width, &position};
        cudaKernelNodeParams params{};
        params.func = reinterpret_cast<void*>(append_kernel);
        params.gridDim = dim3(wb::grid_size(width, kThreads));
        params.blockDim = dim3(kThreads);
        params.kernelParams = append;
        CUDA_CHECK(
            cudaGraphExecKernelNodeSetParams(executable_.get(), appends_[at], &params));

        void* attend[] = {&decoder_.query, &cache, &decoder_.mixed, &width, &position};
        params.func = reinterpret_cast<void*>(attend_kernel);
        params.gridDim = dim3(1);
        params.sharedMemBytes =
            static_cast<unsigned>(attend_shared_bytes(decoder_.shape));
        params.kernelParams = attend;
        CUDA_CHECK(
            cudaGraphExecKernelNodeSetParams(executable_.get(), attends_[at], &params));
    }

    Decoder decoder_;
    Graph graph_;  // its nodes are the names of the executable's
    Executable executable_;
    std::vector<cudaGraphNode_t> appends_, attends_;  // of each layer
};
// #endregion v3

static std::unique_ptr<Stepper> make_stepper_v3(const Decoder& decoder) {
    return std::make_unique<PatchedStepper>(decoder);
}
WB_RUNG(make_stepper, make_stepper_v3, "two nodes a layer updated");

// #region v4
/// *where = position. Launch: one thread.
static __global__ void store_position_kernel(int* where,  // [1]
                                             int position) {
    *where = position;
}

/// v4: the kernels read the position from device memory, where a kernel in front of the
/// graph stores it. The number travels as that kernel's argument, which is copied when
/// it is launched: no memory of the host has to live on.
class ConstantStepper : public Stepper {
 public:
    explicit ConstantStepper(const Decoder& decoder) : decoder_(decoder) {
        CUDA_CHECK(cudaMalloc(&position_, sizeof(int)));
        Lanes lanes;
        const Graph graph = capture_step(decoder_, {0, position_}, lanes);
        CUDA_CHECK(cudaGraphInstantiate(executable_.put(), graph.get(), 0));
    }
    ~ConstantStepper() override { (void)cudaFree(position_); }
    ConstantStepper(const ConstantStepper&) = delete;
    ConstantStepper& operator=(const ConstantStepper&) = delete;

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        store_position_kernel<<<1, 1, 0, stream>>>(position_, position);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream));
    }

 private:
    Decoder decoder_;
    int* position_ = nullptr;
    Executable executable_;
};
// #endregion v4

static std::unique_ptr<Stepper> make_stepper_v4(const Decoder& decoder) {
    return std::make_unique<ConstantStepper>(decoder);
}
WB_RUNG(make_stepper, make_stepper_v4, "position in device memory");
// #end

// #region contract
std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    check_shape(decoder.shape);
    // #solution
    return make_stepper_v4(decoder);
    // #end
    // #starter return make_stepper_v2(decoder);
}
// #endregion contract
