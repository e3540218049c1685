// Calls that nvcc refuses because the function is for the other side.
#pragma once

#include "device_code.h"

namespace rewriter {

/// Refuses host functions called in device code and device functions called in host
/// code, where the call is certain to mean that function: a name of which the user's
/// files declare functions for one side only.
/// @param relaxed  --expt-relaxed-constexpr: constexpr functions are for both sides
void check_calls(Source& source,
                 const Structure& structure,
                 const DeviceCode& code,
                 bool relaxed);

/// Refuses functions of the C and C++ libraries that have no device version.
void check_library_calls(Source& source,
                         const Structure& structure,
                         const DeviceCode& code,
                         bool relaxed);

/// Refuses members, constructors and operators of the user's classes for the other
/// side.
void check_members(Source& source,
                   const Structure& structure,
                   const DeviceCode& code,
                   bool relaxed);

/// Refuses host variables in device code.
void check_variables(Source& source,
                     const Structure& structure,
                     const DeviceCode& code);

/// Is the identifier at token `name` declared as a variable in tokens [first, name)?
bool is_declared_before(const Source& source, size_t first, size_t name);

/// Does the parenthesis behind the unqualified name [first, …) belong to a call, and
/// not to a declaration?
bool is_called(const Source& source, const DeviceCode& code, size_t first);

/// Reports the call of a function for the other side.
/// @param side    the caller's
/// @param advice  what to do
void report_call(Source& source,
                 const DeviceCode& code,
                 size_t token,
                 std::string_view name,
                 Side side,
                 bool is_constexpr,
                 std::string advice = {});

}  // namespace rewriter
