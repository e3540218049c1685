/// core/memory.h: the table of allocations.
///
/// All allocations are carved out of one large inaccessible address range, in order,
/// and made accessible while they live. Each ends at inaccessible memory, so that an
/// access past its end faults at that very instruction, in the plain build, at no cost;
/// a freed range stays inaccessible until the address range has been used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt::detail {

enum class MemoryKind { device, managed, pinned, registered };

struct Allocation {
    char* begin;
    size_t size;
    MemoryKind kind;
    bool live;
    int id;                   // numbers the allocations of the process, from 1
    int device = 0;           // whose it is
    uint32_t visible_to = 0;  // a bit for each device that may access it without more
};

/// What fresh memory that host and device share holds in each word under an observer,
/// which sees no writes of host code that is compiled apart: what holds something else
/// has been written. NaN as half, bfloat16, float and double; hardly anybody's value.
inline constexpr uint32_t kUnwrittenWord = 0xfffdffff;

/// Memory filled with 0xFF (of more than 256 MiB only the first and last 16 MiB, which
/// keeps the system from having to provide all of it).
/// Returns nullptr if the limit (SIMT_MEMORY_MB) or the system's memory is exceeded,
/// and for 0 bytes.
void* allocate(size_t bytes, MemoryKind kind);

/// Frees memory. False, and nothing happens, if `pointer` is not the start of a live
/// allocation of that kind.
bool release(void* pointer, MemoryKind kind);

/// Notes that host memory may be used by kernels. False if it overlaps an allocation.
bool register_host(void* pointer, size_t bytes);
/// Undoes register_host. False if `pointer` is not the start of a registered range.
bool unregister_host(void* pointer);

/// Finds the live allocation that contains the address.
bool find_allocation(const void* address, Allocation* out);

/// True if the address lies where allocate() places memory, live or not.
bool in_device_range(const void* address);

/// The address range from which allocate() takes all memory.
void device_range(char** begin, char** end);

/// Bytes in live allocations, and the most there may be.
size_t memory_used();
size_t memory_limit();

/// Bytes in live allocations of one device, and the most there may be.
size_t memory_used(int device);
size_t memory_limit_of_device();

/// Frees everything, as cudaDeviceReset does; with several devices, what one has.
void release_all();
void release_device(int device);

/// Lets devices access an allocation without peer access: a bit for each.
void set_visible(const void* pointer, uint32_t devices);
/// Device memory of others than `device` that it may not access becomes inaccessible;
/// what was made so is accessible again.
void hide_peer_memory(int device);
void show_all_memory();
/// True for memory that is inaccessible just now.
bool is_hidden(const void* address);

/// Which allocation an invalid address belongs to or is nearest to, in words; "" if
/// none.
///
/// @param freed  set to whether that allocation has been freed
std::string describe_address(const void* address, bool* freed = nullptr);

/// True if the bytes between the allocation that contains `address` and its guard pages
/// are as allocate() left them. Else says in words what was overwritten.
bool check_slack(const void* address, std::string* what);

}  // namespace simt::detail
