/// checker/frames.h: the frame pointers of the running stack.
#pragma once

namespace simt::check {

/// `frame`, if it can be one: on the stack that runs, further out than `inner`. Null if
/// not: code that is compiled without frame pointers, as the C library's, leaves
/// anything in their register.
void* const* frame_outside(const void* inner, void* const* frame);

}  // namespace simt::check
