#include "input_watch.h"

#ifdef SIMT_CPU
#include <simt/write_watch.h>
#endif

namespace wb::testing {

InputWatch::InputWatch(const void* input, [[maybe_unused]] std::size_t bytes)
    : input_(input) {
#ifdef SIMT_CPU
    simt::watch_writes(input, bytes);
#endif
}

InputWatch::~InputWatch() {
    end();
}

std::optional<InputWrite> InputWatch::end() {
    if (input_ == nullptr) return std::nullopt;
#ifdef SIMT_CPU
    const auto seen = simt::end_write_watch(input_);
    input_ = nullptr;
    if (!seen) return std::nullopt;
    InputWrite write{static_cast<std::int64_t>(seen->offset),
                     {"access", seen->file, seen->line}};
    if (seen->kernel.empty()) return write;
    write.place.kernel = seen->kernel;
    write.place.block.assign(seen->block, seen->block + 3);
    write.place.thread.assign(seen->thread, seen->thread + 3);
    return write;
#else
    return std::nullopt;
#endif
}

}  // namespace wb::testing
