/// core/launch.h: running a launch.
#pragma once

#include <memory>

#include "simt/config.h"

namespace simt::detail {

/// Whether the device can run the launch. If not, says why, and makes CUDA's error the
/// host thread's last one.
bool is_possible(const Config& config, const Body& body);

/// Runs a launch that is possible, and those that its kernel makes, to their end.
void run_launch(const Config& config, const Body& body);

/// A launch by a kernel: CUDA lets it begin any time, here it begins when the parent
/// ends.
void launch_child(const Config& config, const Body& body);

/// The kernel's arguments, to be used after the call that brought them.
std::shared_ptr<const void> keep(const Body& body);

}  // namespace simt::detail
