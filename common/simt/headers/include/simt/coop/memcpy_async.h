/// simt/coop/memcpy_async.h: cg::memcpy_async, wait and wait_prior: a group copies to
/// shared memory together.
#pragma once
#include "simt/aligned_size.h"
#include "simt/coop/groups.h"
#include "simt/copy.h"

namespace cooperative_groups {

/// Starts copying `bytes` bytes; every thread of the group takes its part. The data is
/// there after wait() or wait_prior(), not before.
template <class Group, class T, class U>
void memcpy_async(const Group& group, T* dst, const U* src, size_t bytes, SIMT_SITE) {
    simt::detail::copy_part(
        dst, src, bytes, group.thread_rank(), group.size(), file, line);
    simt::detail::cp_async_commit();
}
template <class Group, class T, class U, size_t kAlignment>
void memcpy_async(const Group& group,
                  T* dst,
                  const U* src,
                  cuda::aligned_size_t<kAlignment> bytes,
                  SIMT_SITE) {
    memcpy_async(group, dst, src, static_cast<size_t>(bytes), file, line);
}
/// Starts copying as many elements as both sides have.
template <class Group, class T, class U, class DstCount, class SrcCount>
void memcpy_async(const Group& group,
                  T* dst,
                  const DstCount& dst_count,
                  const U* src,
                  const SrcCount& src_count,
                  SIMT_SITE) {
    const size_t to = dst_count;
    const size_t from = src_count;
    memcpy_async(group, dst, src, (to < from ? to : from) * sizeof(T), file, line);
}

/// Waits for all but the `kPending` newest copies, then for the group.
template <unsigned int kPending, class Group>
void wait_prior(const Group& group, SIMT_SITE) {
    simt::detail::cp_async_wait(kPending);
    group.sync(file, line);
}
/// Waits for all copies, then for the group.
template <class Group>
void wait(const Group& group, SIMT_SITE) {
    simt::detail::cp_async_wait(0);
    group.sync(file, line);
}

}  // namespace cooperative_groups
