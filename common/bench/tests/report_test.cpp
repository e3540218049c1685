#include <wb/bench/json.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support.h"

using namespace wb::bench;
using wb::testing::contains;

namespace {

/// A row with a median of `us`.
Row row_of(const std::string& rung, const std::string& size, double us) {
    Row row;
    row.exercise = "vector_add";
    row.rung = rung;
    row.idea = "one thread an element";
    row.size = size;
    row.timing.us = summarise({us - 1.0, us, us + 1.0});
    row.ceiling = Ceiling::read2_write1;
    row.work = 3e9;
    row.ceiling_value = 3000.0;
    return row;
}

Machine machine_of(const std::string& gpu) {
    Machine machine;
    machine.gpu = gpu;
    machine.arch = "sm_90";
    machine.sms = 132;
    machine.memory_bytes = 80'000'000'000;
    machine.l2_bytes = 50'000'000;
    machine.cuda = "13.0";
    machine.cuda_driver = "13.0";
    return machine;
}

Json document_of(const std::string& gpu, const std::vector<Row>& rows) {
    return document(machine_of(gpu),
                    {{"driver", "580.1"}},
                    {{Ceiling::copy, 2900.0}, {Ceiling::read2_write1, 3000.0}},
                    2.5,
                    rows);
}

/// A folder of its own, removed at the end.
class Folder {
 public:
    Folder() {
        char name[] = "/tmp/wb_bench_XXXXXX";
        if (mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
    std::string path_;
};

std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("json: two levels have lines, deeper ones share one") {
    const Json inner{{"n", 1.0}, {"t", "x"}};
    CHECK(dump({{"rows", {inner, inner}}, {"m", 2}, {"none", Json::array()}}) ==
          "{\n"
          "  \"rows\": [\n"
          "    {\"n\": 1, \"t\": \"x\"},\n"
          "    {\"n\": 1, \"t\": \"x\"}\n"
          "  ],\n"
          "  \"m\": 2,\n"
          "  \"none\": []\n"
          "}\n");
}

TEST_CASE("json: numbers are read back exactly as they were") {
    for (const double x : {0.0, 0.1, 1.0 / 3.0, 1e-300, 123456789012345.0, -2.5e17})
        CHECK(Json::parse(dump(x)).get<double>() == x);
    CHECK(dump(std::numeric_limits<double>::quiet_NaN()) == "null\n");
    CHECK(dump(std::numeric_limits<double>::infinity()) == "null\n");
}

TEST_CASE("json: strings are escaped where they must be") {
    CHECK(dump("a \"b\" \\ c\n\x01 µs") == "\"a \\\"b\\\" \\\\ c\\n\\u0001 µs\"\n");
    CHECK(dump("not UTF-8: \xff") == "\"not UTF-8: \uFFFD\"\n");
}

TEST_CASE("report: 3 GB in a millisecond are 3000 GB/s") {
    const Row row = row_of("v1", "n = 1", 1000.0);
    CHECK(row.rate() == 3000.0);
    CHECK(row.percent() == 100.0);
    CHECK(row_of("v1", "n = 1", 2000.0).percent() == 50.0);
}

TEST_CASE("report: 3 GFLOP in a millisecond are 3 TFLOP/s") {
    Row row = row_of("v1", "n = 1", 1000.0);
    row.ceiling = Ceiling::fp32;
    row.ceiling_value = 60.0;
    CHECK(row.rate() == 3.0);
    CHECK(row.percent() == 5.0);
    CHECK(row_json(row, "")["tflops"] == 3.0);
    CHECK(!row_json(row, "").contains("gbps"));
}

TEST_CASE("report: without a ceiling, no percentage is claimed") {
    Row row = row_of("v1", "n = 1", 1000.0);
    row.ceiling_value = 0.0;
    CHECK(row.percent() == 0.0);
    CHECK(row_json(row, "")["percent"].is_null());
    CHECK_THAT(row_text(row), contains("3000.0      -\n"));
    CHECK_THAT(problem_text(row), contains("2 reads + 1 write not measured"));
}

TEST_CASE("report: a line of the table") {
    CHECK(row_text(row_of("vector_add_v1", "n = 1", 1000.0)) ==
          "  vector_add_v1          one thread an element                1000.00    "
          "0.2%    3000.0  100.0 %\n");
}

TEST_CASE("report: tokens a second and scratch memory are told where there are any") {
    Row row = row_of("v1", "n = 1", 1000.0);
    CHECK(!row_json(row, "").contains("tokens_per_s"));
    CHECK(row_json(row, "")["scratch_bytes"] == 0.0);
    row.tokens = 4096.0;
    row.scratch_bytes = 4.295e9;
    CHECK(row.token_rate() == 4096.0 / 1000.0 * 1e6);
    CHECK(row_json(row, "")["tokens_per_s"] == row.token_rate());
    CHECK(row_json(row, "")["scratch_bytes"] == 4.295e9);
    CHECK_THAT(row_text(row), contains("4.1e+06 tokens/s  + 4.295 GB\n"));
}

TEST_CASE("report: a problem's own limit stands in place of a ceiling") {
    Row row = row_of("v1", "n = 1", 1000.0);
    CHECK(row.ceiling_name() == name_of(row.ceiling));
    row.limit = "the copies alone";
    CHECK_THAT(problem_text(row), contains("% of the copies alone"));
    CHECK(row_json(row, "")["ceiling"] == "the copies alone");
}

TEST_CASE("report: many small kernels, and time of the host") {
    Row row = row_of("v1", "n = 1", 1000.0);
    CHECK(!row_json(row, "").contains("us_a_kernel"));
    CHECK(!row_json(row, "").contains("clock"));
    row.kernels = 200.0;
    row.host_time = true;
    CHECK_THAT(row_text(row), contains("5.000 us a kernel"));
    CHECK_THAT(problem_text(row), contains("host time"));
    CHECK(row_json(row, "")["us_a_kernel"] == 5.0);
    CHECK(row_json(row, "")["clock"] == "host");
}

TEST_CASE("report: a benchmark's own numbers have their own keys") {
    Row row = row_of("v1", "n = 1", 1000.0);
    CHECK(!row_json(row, "").contains("trials"));
    row.notes = {{"trials", 27.0}, {"searches", 10.0}};
    CHECK(row_json(row, "")["trials"] == 27.0);
    CHECK(row_json(row, "")["searches"] == 10.0);
}

TEST_CASE("report: an idea that is too long is shortened, not wrapped") {
    Row row = row_of("v1", "n = 1", 1000.0);
    row.idea = std::string(100, 'x');
    CHECK(row_text(row).size() == row_text(row_of("v1", "n = 1", 1000.0)).size());
}

TEST_CASE("report: a batch of launches and a hot cache are told") {
    Row row = row_of("v1", "n = 1", 1000.0);
    CHECK_THAT(problem_text(row), contains("L2 flushed"));
    row.cache = Cache::hot;
    row.timing.launches_a_sample = 16;
    CHECK_THAT(problem_text(row), contains("L2 hot"));
    CHECK_THAT(row_text(row), contains("(16 launches a sample)"));
    CHECK(row_json(row, "")["cache"] == "hot");
    CHECK(row_json(row, "")["launches_a_sample"] == 16.0);
}

TEST_CASE("report: the header names the machine, its clocks and its ceilings") {
    const std::string text =
        header_text(machine_of("NVIDIA H100"),
                    {{"driver", "580.1"}, {"sm_clock", "1980 MHz"}},
                    {{Ceiling::copy, 2900.4}, {Ceiling::fp32, 51.25}},
                    2.5);
    CHECK(text ==
          "NVIDIA H100, sm_90, 132 SMs, 80.0 GB, L2 50.0 MB\n"
          "CUDA 13.0 (driver's: 13.0), driver 580.1, sm_clock 1980 MHz\n"
          "measured ceilings: copy 2900 GB/s | fp32 51.2 TFLOP/s\n"
          "an empty kernel between two events: 2.5 us\n");
}

TEST_CASE("report: rows are replaced by exercise, rung and size, and kept otherwise") {
    const Json old =
        document_of("GPU", {row_of("v1", "n = 1", 10.0), row_of("v1", "n = 2", 20.0)});
    const Json fresh =
        document_of("GPU", {row_of("v1", "n = 2", 25.0), row_of("v2", "n = 2", 15.0)});
    Json both = merged(old, fresh);
    const Json rows = both["rows"];
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["median_us"] == 10.0);
    CHECK(rows[1]["median_us"] == 25.0);
    CHECK(rows[2]["rung"] == "v2");
}

TEST_CASE("report: ceilings that were not measured again are kept") {
    const Json old = Json::parse(
        "{\"machine\": {\"gpu\": \"GPU\"}, \"rows\": [], "
        "\"ceilings\": {\"fp32\": {\"value\": 50}, \"copy\": {\"value\": 1}}}");
    Json both = merged(old, document_of("GPU", {}));
    CHECK(both["ceilings"]["fp32"]["value"] == 50.0);
    CHECK(both["ceilings"]["copy"]["value"] == 2900.0);
}

TEST_CASE("report: two GPUs do not share a file") {
    const Json old = document_of("NVIDIA H100", {});
    CHECK_THROWS_WITH(merged(old, document_of("NVIDIA H200", {})),
                      contains("holds measurements of NVIDIA H100, these are of NVIDIA "
                               "H200"));
    CHECK_THROWS_WITH(merged(Json::parse("[]"), old), contains("no known GPU"));
}

TEST_CASE("report: a file is created, then merged into") {
    const Folder folder;
    const std::string path = folder.file("bench.json");
    merge_into_file(path, document_of("GPU", {row_of("v1", "n = 1", 10.0)}));
    merge_into_file(path, document_of("GPU", {row_of("v2", "n = 1", 20.0)}));
    Json result = Json::parse(contents(path));
    CHECK(result["rows"].size() == 2);
    CHECK(result["machine"]["gpu"] == "GPU");
    CHECK(result["machine"]["driver"] == "580.1");
    CHECK(result["ceilings"]["empty kernel"]["unit"] == "us");
    CHECK_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_CASE("report: a file that is no measurement is left as it is") {
    const Folder folder;
    const std::string path = folder.file("notes.txt");
    std::ofstream(path) << "my notes\n";
    CHECK_THROWS_WITH(merge_into_file(path, document_of("GPU", {})),
                      contains("notes.txt was left as it is: " + path + ": "));
    CHECK(contents(path) == "my notes\n");
}

TEST_CASE("report: a folder that does not exist is told") {
    const Folder folder;
    CHECK_THROWS_WITH(merge_into_file(folder.file("no/x.json"), document_of("GPU", {})),
                      contains("cannot write"));
}

TEST_CASE("report: the date has the form of a date") {
    CHECK(today().size() == 10);
    CHECK(today()[4] == '-');
}
