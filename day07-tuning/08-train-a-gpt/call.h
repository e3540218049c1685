/// call.h: given with this exercise: what the contract refuses, and what the kernels
/// are told of a step. There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cmath>
#include <cstdint>

#include "library.h"
#include "train_a_gpt.h"

/// Threads of a block, of kernels that do the same for each element.
inline constexpr int kElementThreads = 256;

// #region step
/// A call, checked: where its arrays are, by the places of the plan.
struct Step {
    const GptCall& call;
    const StepPlan& plan;
    cudaStream_t stream;

    Step(const GptCall& of, cudaStream_t on) : call(of), plan(*of.plan), stream(on) {}

    /// An array of the memory.
    template <class T = float>
    T* at(int64_t offset) const {
        return reinterpret_cast<T*>(static_cast<char*>(call.memory) + offset);
    }
    const float* weight(int64_t place) const { return call.weights + place; }
    float* gradient(int64_t place) const { return call.gradients + place; }

    int64_t tokens() const { return plan.tokens(); }
    int64_t width() const { return plan.shape.width; }
    int64_t hidden() const { return plan.shape.hidden; }
    bool is_parallel() const { return plan.shape.is_parallel; }
};
// #endregion step

/// Refuses wrong arguments of gpt_loss() and of gpt_gradients().
inline void check_call(const char* function, const GptCall& call, bool has_gradients) {
    const wb::Arguments arguments(function);
    arguments.require(call.plan != nullptr, "plan", 0, "must not be null");
    const StepPlan& plan = *call.plan;
    arguments.require(
        plan.bytes > 0, "plan->bytes", plan.bytes, "must be > 0: see plan_step()");
    arguments.require(
        call.bytes >= plan.bytes, "bytes", call.bytes, "must be plan->bytes or more");
    const int64_t elements = plan.parameters.elements;
    const int64_t tokens = plan.batch * (plan.length + 1);
    arguments.device("weights", call.weights, elements)
        .device("tokens", call.tokens, tokens)
        .device("memory", static_cast<const char*>(call.memory), call.bytes)
        .device("loss", call.loss, 1)
        .device("bad_tokens", call.bad_tokens, 1);
    const auto address = reinterpret_cast<uintptr_t>(call.memory);
    arguments.require(address % 256 == 0,
                      "memory",
                      static_cast<int64_t>(address),
                      "must be a multiple of 256");
    check_cublas_kinds(function, call.cublas);
    if (has_gradients)
        arguments.device("gradients", call.gradients, elements);
    else
        arguments.require(call.gradients == nullptr,
                          "gradients given",
                          1,
                          "must be null: gpt_gradients() writes them");
    arguments.apart(
        {{"weights", call.weights, elements * 4, false},
         {"tokens", call.tokens, tokens * 4, false},
         {"memory", call.memory, call.bytes, true},
         {"loss", call.loss, 4, true},
         {"gradients", call.gradients, has_gradients ? elements * 4 : 0, true},
         {"bad_tokens", call.bad_tokens, 8, true}});
}

/// Refuses wrong arguments of adamw(). Returns false if there is nothing to do but to
/// write a norm of 0.
inline bool check_adamw(const AdamW& a) {
    const wb::Arguments arguments("adamw");
    const auto share = [&](const char* name, float value) {
        arguments.require_real(
            value >= 0.0f && value < 1.0f, name, double{value}, "must be in [0, 1)");
    };
    arguments.size("elements", a.elements)
        .require(
            a.elements % 64 == 0, "elements", a.elements, "must be a multiple of 64")
        .positive("step", a.step)
        .not_negative("rate", double{a.rate})
        .above_zero("eps", double{a.eps})
        .not_negative("decay", double{a.decay})
        .not_negative("clip", double{a.clip});
    share("beta1", a.beta1);
    share("beta2", a.beta2);
    arguments.product("4 * elements", {4, a.elements});
    arguments.device("weights", a.weights, a.elements)
        .device("gradients", a.gradients, a.elements)
        .device("first", a.first, a.elements)
        .device("second", a.second, a.elements)
        .device("decays", a.decays, a.elements / 64)
        .device("parts", a.parts, kNormParts)
        .device("norm", a.norm, 1);
    arguments.apart({{"weights", a.weights, a.elements * 4, true},
                     {"gradients", a.gradients, a.elements * 4, false},
                     {"first", a.first, a.elements * 4, true},
                     {"second", a.second, a.elements * 4, true},
                     {"decays", a.decays, a.elements / 64, false},
                     {"parts", a.parts, kNormParts * 8, true},
                     {"norm", a.norm, 4, true}});
    return a.elements > 0;
}
