/// core/fault.h: how faults are reported.
#pragma once

#include <memory>
#include <string>

#include "scheduler.h"
#include "simt/error.h"

namespace simt::detail {

/// A fault of the running thread at a known place.
std::unique_ptr<PendingFault> make_fault(Worker& w,
                                         int code,
                                         const char* file,
                                         int line,
                                         std::string text,
                                         FindingKind kind = FindingKind::fault);

/// The fault of a launch in which nothing moved for too long.
std::unique_ptr<PendingFault> make_time_out(Worker& w);

/// The fault of a launch whose blocks all wait, and of which no further one can begin:
/// there is no room for it (SIMT_RESIDENT_BLOCKS).
std::unique_ptr<PendingFault> make_no_room(Worker& w);

/// Prints the report and makes the error sticky. Called on the worker's own stack.
void report(const Launch& launch, const PendingFault& fault);

/// Prints one line "==SIMT== warning: ..." about the launch. Not more than a few times
/// for the same place.
void warn(const Launch& launch, const char* file, int line, const std::string& text);

/// Refuses a launch: prints why, and makes `code` the host thread's last error.
void refuse(int code, const Config& config, const char* name, const std::string& text);

/// The program counters of the calling function and its callers, each inside the
/// instruction that called.
std::vector<void*> capture_frames();

/// printf into a string.
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// "file:line" with the file's last path component.
std::string place(const char* file, int line);

/// "(1,2,3)"
std::string triple(uint3 v);

}  // namespace simt::detail
