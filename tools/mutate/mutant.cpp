// mutant.cpp: which mutant this program is (mutant.h), and what was seen of all others.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace wb_mutant {

// const for who reads them (mutant.h): a compiler may keep them in registers.
int chosen = -1;
int version = -1;
unsigned char* seen = nullptr;
void note(int id, unsigned char what);

namespace {

constexpr std::size_t kMost = 1 << 16;  // mutants in a program

int number_in(const char* variable) {
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : -1;
}

/// A file that is memory: it keeps what was seen however the program ends.
unsigned char* open_trace() {
    const char* path = std::getenv("WB_MUTANT_TRACE");
    if (!path) return nullptr;
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || ftruncate(file, kMost) != 0) {
        std::perror(path);
        std::exit(2);
    }
    void* map = mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return map == MAP_FAILED ? nullptr : static_cast<unsigned char*>(map);
}

}  // namespace

// Before all static objects: they may launch kernels.
[[gnu::constructor(101)]] static void begin() {
    chosen = number_in("WB_MUTANT");
    version = number_in("WB_MUTANT_VERSION");
    seen = open_trace();
}

void note(int id, unsigned char what) {
    if (id >= 0 && static_cast<std::size_t>(id) < kMost &&
        (seen[id] | what) != seen[id])
        __atomic_fetch_or(&seen[id], what, __ATOMIC_RELAXED);
}

}  // namespace wb_mutant
