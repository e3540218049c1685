/// checker/kernel_name.h: which kernel a launch has started.
#pragma once

#include <string>

#include "core/scheduler.h"

namespace simt::check {

/// The kernel's name: as the launch says it, "scale<4>", but where that is the name of
/// a variable or parameter, the name that the kernel's own definition has.
const std::string& kernel_name(const detail::Launch& launch);
/// @param name     as the launch says it
/// @param address  of the kernel; null: unknown
const std::string& kernel_name(const char* name, const void* address);

}  // namespace simt::check
