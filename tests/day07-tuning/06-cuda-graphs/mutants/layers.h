/// layers.h: right parts of a stepper, for mutants that get another part wrong.
#pragma once

#include <wb/check.h>

#include "cuda_graphs.h"
#include "decoder.h"
#include "graph.h"

/// The streams that a step is captured from, and the events between them.
struct Lanes {
    Lane main, side;
    Event normed, appended;
};

/// The second half of a layer.
inline void finish_layer(const Decoder& d, int layer, Position position, Lanes& lanes) {
    launch_attend(d, layer, position, lanes.main);
    launch_project(d, d.output_weights, layer, d.mixed, d.delta, lanes.main);
    launch_add(d, lanes.main);
}

/// A layer, rightly.
inline void queue_layer(const Decoder& d, int layer, Position position, Lanes& lanes) {
    launch_norm(d, lanes.main);
    lanes.normed.record(lanes.main);
    lanes.normed.hold(lanes.side);
    launch_project(d, d.key_weights, layer, d.normed, d.key, lanes.side);
    launch_append(d, layer, position, lanes.side);
    launch_project(d, d.query_weights, layer, d.normed, d.query, lanes.main);
    lanes.appended.record(lanes.side);
    lanes.appended.hold(lanes.main);
    finish_layer(d, layer, position, lanes);
}

/// All layers as a graph. @param queue  queues one of them
template <class Queue>
Graph capture_step(const Decoder& d, Lanes& lanes, Queue queue) {
    Graph graph;
    CUDA_CHECK(cudaStreamBeginCapture(lanes.main, cudaStreamCaptureModeThreadLocal));
    for (int layer = 0; layer < d.shape.layers; ++layer)
        queue(layer);
    CUDA_CHECK(cudaStreamEndCapture(lanes.main, graph.put()));
    return graph;
}
