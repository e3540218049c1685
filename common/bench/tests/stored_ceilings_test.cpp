#include <unistd.h>
#include <wb/bench/stored_ceilings.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support.h"

using namespace wb::bench;
using wb::testing::contains;

namespace {

Machine machine_named(const std::string& gpu) {
    Machine machine;
    machine.gpu = gpu;
    return machine;
}

/// A file that is gone when the test case ends. Its name has the process in it: CTest
/// runs several cases at the same time.
struct TemporaryFile {
    const std::string path = (std::filesystem::temp_directory_path() /
                              ("wb_ceilings_" + std::to_string(getpid()) + ".json"))
                                 .string();
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

}  // namespace

TEST_CASE("stored ceilings: what was measured comes back, what was not does not") {
    const TemporaryFile file;
    const Machine machine = machine_named("NVIDIA H100");
    write_ceilings(
        file.path, machine, {}, {{Ceiling::copy, 3026.5}, {Ceiling::bf16, 0.0}}, 4.4);
    const StoredCeilings stored = read_ceilings(file.path, machine);
    CHECK(stored.values.size() == 1);
    CHECK(stored.values.at(Ceiling::copy) == 3026.5);
    CHECK(stored.date.size() == std::string("2026-11-21").size());
}

TEST_CASE("stored ceilings: those of another GPU, or of none, are refused") {
    const TemporaryFile file;
    write_ceilings(file.path, machine_named("NVIDIA A100"), {}, {}, 4.4);
    CHECK_THROWS_WITH(read_ceilings(file.path, machine_named("NVIDIA H100")),
                      contains("of NVIDIA A100, but this is NVIDIA H100"));
    CHECK_THROWS_WITH(read_ceilings("/nowhere.json", machine_named("NVIDIA H100")),
                      contains("cannot read /nowhere.json"));
    CHECK_THROWS_WITH(ceilings_of(Json::object(), machine_named("NVIDIA H100")),
                      contains("these are no ceilings"));
}

TEST_CASE("stored ceilings: a ceiling that was taken is not measured") {
    Timer timer(1 << 20, Budget{1, 1, 0.0});
    Ceilings ceilings(timer, 1 << 20);
    ceilings.take({{Ceiling::copy, 1234.0}});
    CHECK(ceilings.get(Ceiling::copy) == 1234.0);
}
