// The table of kernels by address.

#include "simt/kernel_ref.h"

#include <mutex>
#include <unordered_map>

namespace simt::detail {
namespace {

struct Table {
    std::mutex mutex;
    std::unordered_map<const void*, KernelEntry> entries;
};

// Never destroyed: kernels may be launched by destructors of static objects.
Table& table() {
    static Table* const instance = new Table;
    return *instance;
}

}  // namespace

void register_kernel(const KernelEntry& entry) {
    Table& kernels = table();
    const std::lock_guard lock(kernels.mutex);
    kernels.entries.try_emplace(entry.function, entry);
}

const KernelEntry* find_kernel(const void* function) {
    Table& kernels = table();
    const std::lock_guard lock(kernels.mutex);
    const auto found = kernels.entries.find(function);
    return found == kernels.entries.end() ? nullptr : &found->second;
}

}  // namespace simt::detail
