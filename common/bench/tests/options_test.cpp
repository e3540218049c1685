#include <cuda_runtime.h>
#include <wb/bench/machine.h>
#include <wb/bench/options.h>

#include "support.h"

using namespace wb::bench;
using wb::testing::contains;

TEST_CASE("options: without any, everything is measured and no file is written") {
    const Options options = parse_options({});
    CHECK(options.sizes == Sizes::full);
    CHECK(options.json == "");
    CHECK(options.seconds == 0.2);
    CHECK_FALSE(options.list);
    CHECK_FALSE(options.help);
}

TEST_CASE("options: each of them") {
    const Options options = parse_options(
        {"--sizes", "small", "--json", "a b.json", "--seconds", "1.5", "--list"});
    CHECK(options.sizes == Sizes::small);
    CHECK(options.json == "a b.json");
    CHECK(options.seconds == 1.5);
    CHECK(options.list);
    CHECK(parse_options({"--sizes", "tiny"}).sizes == Sizes::tiny);
    CHECK(parse_options({"--sizes", "grid"}).sizes == Sizes::grid);
    const Options xray = parse_options({"--xray", "x.json", "--size", "n = 4096"});
    CHECK(xray.xray == "x.json");
    CHECK(xray.size == "n = 4096");
    const Options one = parse_options({"--size", "4096", "--row", "sgemm/sgemm_v13"});
    CHECK(one.size == "4096");
    CHECK(one.row == "sgemm/sgemm_v13");
    CHECK(parse_options({"--ceilings", "c.json"}).ceilings == "c.json");
    CHECK(parse_options({"--help"}).help);
    CHECK(parse_options({"-h"}).help);
}

TEST_CASE("options: whatever is not understood is refused in a sentence") {
    CHECK_THROWS_WITH(parse_options({"--fast"}), contains("unknown option '--fast'"));
    CHECK_THROWS_WITH(parse_options({"full"}), contains("unknown option 'full'"));
    CHECK_THROWS_WITH(parse_options({"--xray", "x.json", "--row", "v1"}),
                      contains("--row does not go with --xray"));
    CHECK_THROWS_WITH(parse_options({"--sizes"}), contains("--sizes needs a value"));
    CHECK_THROWS_WITH(parse_options({"--json", ""}), contains("--json needs a value"));
    CHECK_THROWS_WITH(parse_options({"--sizes", "big"}),
                      contains("tiny, small, full or grid"));
    for (const char* seconds : {"x", "1x", "-1", "61", "nan"}) {
        CHECK_THROWS_WITH(parse_options({"--seconds", seconds}),
                          contains("must be a number from 0 to 60"));
    }
}

TEST_CASE("machine: a line of nvidia-smi becomes readings") {
    const auto readings = parse_nvidia_smi(
        "580.159.04, 1980 MHz, 1980 MHz, 2619 MHz, 2619 MHz, 700.00 W\n");
    REQUIRE(readings.size() == 6);
    CHECK(readings[0] == std::pair<std::string, std::string>("driver", "580.159.04"));
    CHECK(readings[1].second == "1980 MHz");
    CHECK(readings[5] ==
          std::pair<std::string, std::string>("power_limit", "700.00 W"));
}

TEST_CASE("machine: what nvidia-smi does not know is left out") {
    const auto readings =
        parse_nvidia_smi("580.1, [N/A], [Not Supported], 2619 MHz, , 700 W");
    REQUIRE(readings.size() == 3);
    CHECK(readings[1].first == "memory_clock");
}

TEST_CASE("machine: an error message of nvidia-smi is no reading") {
    CHECK(parse_nvidia_smi("").empty());
    CHECK(parse_nvidia_smi("No devices were found\n").empty());
    CHECK(parse_nvidia_smi("1, 2, 3, 4, 5, 6, 7\n").empty());
}

TEST_CASE("machine: a bus id that is none reaches no shell") {
    CHECK(read_nvidia_smi("; echo 1, 2, 3, 4, 5, 6").empty());
}

TEST_CASE("machine: the device here is described") {
    const Machine machine = describe_machine();
    CHECK(machine.gpu != "");
    CHECK(machine.arch.rfind("sm_", 0) == 0);
    CHECK(machine.sms > 0);
    CHECK(machine.memory_bytes > 0);
    CHECK(machine.cuda.find('.') != std::string::npos);
#ifdef SIMT_CPU
    CHECK(machine.simulated);
#else
    CHECK_FALSE(machine.simulated);
#endif
}
