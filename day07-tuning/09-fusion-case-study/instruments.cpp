// instruments.cpp: given with this exercise.
#include "instruments.h"

#include <wb/arguments.h>
#include <wb/check.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace {

template <class T>
std::vector<T> download(const T* from, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    CUDA_CHECK(cudaMemcpy(
        values.data(), from, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

/// Runs steps, and reads what they have left.
Record run(Model& model, DecodeStep step, int64_t steps, How how) {
    Record record;
    const wb::model::GptShape& gpt = model.decoder().shape.gpt;
    record.places = 2 * gpt.layers + 1;
    record.width = gpt.width;
    model.keep_trace(false);
    const StepGraph graph(model.decoder(), step);
    record.nodes = graph.kernels();
    model.keep_trace(how == How::one_by_one);
    using Clock = std::chrono::steady_clock;
    double seconds = 0.0;
    for (int64_t i = 0; i < steps; ++i) {
        const Clock::time_point begin = Clock::now();
        Step one(model.decoder(), nullptr);
        if (how == How::as_a_graph)
            graph.launch(nullptr);
        else
            step(one);
        CUDA_CHECK(cudaDeviceSynchronize());
        seconds += std::chrono::duration<double>(Clock::now() - begin).count();
        record.launches = one.counts().launches;
        record.bytes = one.counts().bytes;
        if (how != How::one_by_one) continue;
        const auto kept = download(model.decoder().trace, record.places * record.width);
        record.hidden.insert(record.hidden.end(), kept.begin(), kept.end());
    }
    const Decoder& d = model.decoder();
    record.ms = steps == 0 ? 0.0 : 1e3 * seconds / static_cast<double>(steps);
    record.text = download(d.text, steps + 1);
    record.picks = download(d.picks, steps);
    record.losses = download(d.losses, steps);
    record.add_norm_calls = download(d.add_norm_calls, 1)[0];
    return record;
}

}  // namespace

StepGraph::StepGraph(const Decoder& decoder, DecodeStep step) {
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    Step one(decoder, stream);
    try {
        step(one);
    } catch (...) {
        (void)cudaStreamEndCapture(stream, &graph_);
        if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
        (void)cudaStreamDestroy(stream);
        throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph_));
    CUDA_CHECK(cudaStreamDestroy(stream));
    CUDA_CHECK(cudaGraphInstantiate(&executable_, graph_, 0));
    size_t count = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph_, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    if (count > 0) CUDA_CHECK(cudaGraphGetNodes(graph_, nodes.data(), &count));
    for (const cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type{};
        CUDA_CHECK(cudaGraphNodeGetType(node, &type));
        if (type == cudaGraphNodeTypeKernel) ++kernels_;
    }
}

StepGraph::~StepGraph() {
    if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
}

void StepGraph::launch(cudaStream_t stream) const {
    CUDA_CHECK(cudaGraphLaunch(executable_, stream));
}

Record generate(Model& model,
                DecodeStep step,
                const std::vector<int32_t>& prompt,
                int64_t made,
                How how) {
    const auto given = static_cast<int64_t>(prompt.size());
    wb::Arguments("generate")
        .size("made", made)
        .require(given - 1 + made <= model.decoder().shape.tokens,
                 "tokens",
                 given - 1 + made,
                 "must be at most the tokens of the shape");
    model.begin(prompt);
    return run(model, step, given - 1 + made, how);
}

Record read_text(Model& model,
                 DecodeStep step,
                 const std::vector<int32_t>& text,
                 How how) {
    model.begin_text(text);
    return run(model, step, static_cast<int64_t>(text.size()) - 1, how);
}

Parting first_parting(const Record& a, const Record& b, double allowed) {
    Parting parting;
    parting.by_place.assign(static_cast<size_t>(a.places), 0.0);
    const auto size = static_cast<size_t>(a.places * a.width);
    const auto steps =
        static_cast<int64_t>(std::min(a.hidden.size(), b.hidden.size()) / size);
    for (int64_t step = 0; step < steps; ++step) {
        for (int64_t place = 0; place < a.places; ++place) {
            double most = 0.0;
            for (int64_t i = 0; i < a.width; ++i) {
                const double apart =
                    std::abs(double{a.at(step, place)[i]} - b.at(step, place)[i]);
                most = std::isnan(apart) ? INFINITY : std::max(most, apart);
            }
            double& of_place = parting.by_place[static_cast<size_t>(place)];
            of_place = std::max(of_place, most);
            if (parting.step >= 0 || most <= allowed) continue;
            parting.step = step;
            parting.place = place;
            parting.difference = most;
        }
    }
    return parting;
}

int64_t first_different_token(const Record& a, const Record& b) {
    const size_t steps = std::min(a.picks.size(), b.picks.size());
    for (size_t step = 0; step < steps; ++step)
        if (a.picks[step] != b.picks[step]) return static_cast<int64_t>(step);
    return -1;
}

double perplexity(const Record& record) {
    double sum = 0.0;
    for (const float loss : record.losses)
        sum += double{loss};
    return std::exp(sum / static_cast<double>(record.losses.size()));
}

std::string name_of_place(int64_t place) {
    if (place == 0) return "behind the embedding";
    return "layer " + std::to_string((place - 1) / 2) +
           (place % 2 == 1 ? ", behind attention" : ", behind the MLP");
}
