#include "conditional.h"

#include "call.h"
#include "graph_operation.h"
#include "handles.h"
#include "simt/api/graph.h"
#include "simt/fault.h"

namespace simt::detail {
namespace {

HandleTable<Condition>& conditions() {
    static auto* const table = new HandleTable<Condition>;
    return *table;
}

Condition* find_condition(cudaGraphConditionalHandle handle) {
    auto* const condition = reinterpret_cast<Condition*>(handle);
    return conditions().contains(condition) ? condition : nullptr;
}

/// How many bodies a node of this kind may have.
bool fits(cudaGraphConditionalNodeType kind, unsigned bodies) {
    switch (kind) {
        case cudaGraphCondTypeIf:
            return bodies == 1 || bodies == 2;
        case cudaGraphCondTypeWhile:
            return bodies == 1;
        case cudaGraphCondTypeSwitch:
            return bodies > 0;
    }
    return false;
}

}  // namespace

cudaError_t ConditionalOperation::run(cudaStream_t stream) const {
    const auto run_body = [&](size_t i) {
        return i < bodies_.size() ? run_graph(bodies_[i]->ordered(), stream)
                                  : cudaSuccess;
    };
    switch (kind_) {
        case cudaGraphCondTypeIf:
            return run_body(condition_->value != 0 ? 0 : 1);
        case cudaGraphCondTypeSwitch:
            return run_body(condition_->value);
        case cudaGraphCondTypeWhile:
            while (condition_->value != 0)
                if (const cudaError_t error = run_body(0)) return error;
            break;
    }
    return cudaSuccess;
}

void ConditionalOperation::start() const {
    if (condition_->has_default) condition_->value = condition_->at_launch;
    for (const cudaGraph_t body : bodies_)
        start_conditions(*body);
}

OperationPtr ConditionalOperation::instantiated() const {
    auto copy = std::make_shared<ConditionalOperation>(*this);
    copy->own_.clear();
    for (cudaGraph_t& body : copy->bodies_) {
        copy->own_.push_back(body->clone());
        body = copy->own_.back().get();
        instantiate_conditions(*body);
    }
    return copy;
}

void start_conditions(const CUgraph_st& graph) {
    for (const auto& node : graph.nodes) {
        const Operation* operation = node->operation.get();
        if (const auto* condition =
                dynamic_cast<const ConditionalOperation*>(operation))
            condition->start();
        if (const auto* child = dynamic_cast<const GraphOperation*>(operation))
            start_conditions(*child->graph());
    }
}

void instantiate_conditions(CUgraph_st& graph) {
    for (const auto& node : graph.nodes)
        if (const auto* condition =
                dynamic_cast<const ConditionalOperation*>(node->operation.get()))
            node->operation = condition->instantiated();
}

cudaError_t add_conditional(cudaGraphNode_t* node, cudaGraph_t graph,
                            const cudaGraphNode_t* dependencies, size_t count,
                            cudaConditionalNodeParams& params) {
    Condition* const condition = find_condition(params.handle);
    if (!node || !is_growing_graph(graph) || (count > 0 && !dependencies) ||
        !condition || !fits(params.type, params.size))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
        if (!is_node(dependencies[i]) || dependencies[i]->graph != graph)
            return cudaErrorInvalidValue;
    std::vector<cudaGraph_t> bodies;
    for (unsigned i = 0; i < params.size; ++i)
        bodies.push_back(publish_graph(std::make_unique<CUgraph_st>()));
    const auto operation = std::make_shared<ConditionalOperation>(
        condition, params.type, std::move(bodies));
    params.phGraph_out = operation->bodies();
    *node = graph->add(operation, {dependencies, dependencies + count});
    return cudaSuccess;
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                             cudaGraph_t graph, unsigned int at_launch,
                                             unsigned int flags) {
    return api_call([&] {
        if (!handle || !is_growing_graph(graph) ||
            (flags & ~cudaGraphCondAssignDefault))
            return cudaErrorInvalidValue;
        auto made = std::make_unique<Condition>();
        made->at_launch = at_launch;
        made->has_default = flags & cudaGraphCondAssignDefault;
        *handle = reinterpret_cast<cudaGraphConditionalHandle>(
            conditions().insert(std::move(made)));
        return cudaSuccess;
    });
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value,
                             const char* file, int line) {
    if (Condition* const condition = find_condition(handle))
        condition->value = value;
    else
        fault(cudaErrorLaunchFailure, file, line,
              "cudaGraphSetConditional: the handle was not made by "
              "cudaGraphConditionalHandleCreate");
}
