// s0.cpp: given with this exercise: how the public report, S0 for short, has put its
// kernel into the model.
#include <vector>

#include "step.h"

namespace {

/// A sub-layer, as a framework has it: an object with a function that can be replaced.
struct SubLayer {
    int64_t number = 0;
    bool is_fused = false;
};

// #region modules
/// One token, module by module.
void run_modules(Step& s, const std::vector<SubLayer>& modules) {
    s.embed();
    s.norm(0);
    for (const SubLayer& module : modules) {
        const int64_t layer = module.number / 2;
        if (module.number % 2 == 0) {
            s.qkv(layer);
            s.rotate_append(layer);
            s.attend(layer);
            s.out(layer);
        } else {
            s.up(layer);
            s.down(layer);
        }
        const int64_t next = module.number + 1;
        if (module.is_fused) {
            s.layernorm_residual(module.number, next);
        } else {
            s.add(module.number);
            s.norm(next);
        }
    }
    s.logits();
    s.pick();
}

std::vector<SubLayer> modules_of(const Step& s) {
    std::vector<SubLayer> modules;
    for (int64_t i = 0; i < 2 * s.layers(); ++i)
        modules.push_back({i});
    return modules;
}
// #endregion modules

// #region not-called
/// Puts the fused kernel in.
void fuse(std::vector<SubLayer> modules) {
    for (SubLayer& module : modules)
        module.is_fused = true;
}
// #endregion not-called

}  // namespace

void s0_step_not_called(Step& step) {
    const std::vector<SubLayer> modules = modules_of(step);
    fuse(modules);
    run_modules(step, modules);
}

void s0_step(Step& step) {
    std::vector<SubLayer> modules = modules_of(step);
    for (SubLayer& module : modules)
        module.is_fused = true;
    run_modules(step, modules);
}
