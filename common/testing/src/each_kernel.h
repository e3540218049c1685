/// each_kernel.h: one process for many known-wrong kernels; part of main.cpp alone. On
/// a GPU a process costs the driver some 0.3 seconds, in which no other begins, and a
/// wrong kernel is rejected in a hundredth of that.
///
/// `PROGRAM --wb-each FILE`, without a supervisor. Each line of FILE is a task, of
/// fields with tabs between them: the kernel's name (WB_WRONG_KERNEL), the file for its
/// verdict, and Catch2's arguments. The program ends with status 0 after the last task,
/// or with kDeviceIsLost after one that has left CUDA with an error that stays. What
/// verdicts are worth when it ended otherwise is for tools/learn/verify_wrong.py to
/// say.
#pragma once

#include <cuda_runtime.h>
#include <wb/testing/verdict.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "settings.h"

namespace wb::testing {

inline constexpr int kDeviceIsLost = 87;

struct KernelTask {
    std::string kernel, verdict_file;
    std::vector<std::string> arguments;
};

/// A line without a filter is no task.
inline std::vector<KernelTask> tasks_in(const char* file) {
    std::vector<KernelTask> tasks;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        KernelTask task;
        std::getline(fields, task.kernel, '\t');
        std::getline(fields, task.verdict_file, '\t');
        for (std::string argument; std::getline(fields, argument, '\t');)
            task.arguments.push_back(argument);
        if (!task.arguments.empty()) tasks.push_back(std::move(task));
    }
    return tasks;
}

/// No kernel runs any more, and no error is pending. False if CUDA cannot go on.
inline bool device_is_quiet() {
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();  // the task's
    return cudaDeviceSynchronize() == cudaSuccess && cudaFree(nullptr) == cudaSuccess;
}

/// Implementations are as good as new (called_again.cpp): how a wrong kernel is graded
/// does not depend on those before it.
void forget_gradings();

inline int run_each(Catch::Session& session, const char* program, const char* file) {
    for (const KernelTask& task : tasks_in(file)) {
        give_setting("WB_WRONG_KERNEL", task.kernel);
        std::vector<const char*> arguments = {program};
        for (const std::string& argument : task.arguments)
            arguments.push_back(argument.c_str());
        session.useConfigData({});  // of the task before it
        forget_gradings();
        Verdict::instance().begin_again(task.verdict_file);
        session.run(static_cast<int>(arguments.size()), arguments.data());
        const bool goes_on = device_is_quiet();
        Verdict::instance().all_ran(true);
        if (!goes_on) return kDeviceIsLost;
    }
    return 0;
}

}  // namespace wb::testing
