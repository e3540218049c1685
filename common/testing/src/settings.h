/// settings.h: the variables of the environment that say how a program grades.
#pragma once

#include <string>

namespace wb::testing {

/// Reads what the program was started with, before any of the learner's code can change
/// it.
void remember_settings();

/// Sets a variable as if the program had been started with this value. Of the grader's
/// alone: one program is many known-wrong kernels, one after another (each_kernel.h).
void give_setting(const std::string& name, const std::string& value);

/// Was the program started with this variable?
bool is_given(const std::string& name);

/// The first variable of the grader or of the simulator, WB_... or SIMT_..., that is
/// not what the program was started with; "" if none. All of them are put back.
std::string changed_setting();

/// What is said about it.
std::string told_of_setting(const std::string& name);
extern const char* const kSettingAdvice;

}  // namespace wb::testing
