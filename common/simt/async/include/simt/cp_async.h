/// simt/cp_async.h: copies to shared memory that a thread waits for.
#pragma once

#include "simt/core.h"

namespace simt::detail {

/// Starts a copy from global to shared memory.
///
/// @param bytes      4, 8 or 16: both addresses are multiples of it
/// @param src_bytes  <= bytes: what is actually read; the rest is filled with zeros
/// The data lands when the thread waits for it, not before, so that a kernel that
/// forgets to wait reads poison.
void cp_async(
    void* shared, const void* global, int bytes, int src_bytes, SIMT_OWN_SITE);
inline void cp_async(void* shared, const void* global, int bytes = 16, SIMT_OWN_SITE) {
    cp_async(shared, global, bytes, bytes, file, line);
}

/// Closes a group of copies.
void cp_async_commit();

/// Waits until at most `pending` of the newest groups are in flight.
void cp_async_wait(int pending);

/// Waits for all copies, also those in no group yet.
void cp_async_wait_all();

}  // namespace simt::detail
