// The JSON: {"machine": {…}, "ceilings": {…}, "rows": […]}.
#include <wb/bench/report.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace wb::bench {
namespace {

Json member(const Json& object, const char* key) {
    const Json* found = object.find(key);
    return found == nullptr ? Json() : *found;
}

bool same_key(const Json& a, const Json& b) {
    for (const char* key : {"exercise", "rung", "size"}) {
        if (member(a, key).text() != member(b, key).text()) return false;
    }
    return true;
}

/// Replaces the first element that is `same` as the new one, or appends it.
template <class List, class Item, class Same>
void put(List& list, const Item& item, Same same) {
    for (auto& old : list) {
        if (same(old, item)) {
            old = item;
            return;
        }
    }
    list.push_back(item);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw std::runtime_error("cannot read " + path);
    return text.str();
}

}  // namespace

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
    return text;
}

Json row_json(const Row& row, const std::string& date) {
    const Statistics& us = row.timing.us;
    const bool compute = is_compute(row.ceiling);
    Json::Object result{
        {"exercise", row.exercise},
        {"rung", row.rung},
        {"size", row.size},
        {"idea", row.idea},
        {"cache", row.cache == Cache::cold ? "cold" : "hot"},
        {"samples", us.count},
        {"launches_a_sample", row.timing.launches_a_sample},
        {"median_us", us.median},
        {"min_us", us.min},
        {"p10_us", us.p10},
        {"p90_us", us.p90},
        {"max_us", us.max},
        {compute ? "flop" : "bytes", row.work},
        {compute ? "tflops" : "gbps", row.rate()},
        {"ceiling", row.ceiling_name()},
        {"ceiling_value", row.ceiling_value > 0.0 ? Json(row.ceiling_value) : Json()},
        {"percent", row.ceiling_value > 0.0 ? Json(row.percent()) : Json()},
        {"scratch_bytes", row.scratch_bytes},
    };
    if (row.tokens > 0.0) result.push_back({"tokens_per_s", row.token_rate()});
    if (row.kernels > 0.0) {
        result.push_back({"kernels", row.kernels});
        result.push_back({"us_a_kernel", us.median / row.kernels});
    }
    if (row.host_time) result.push_back({"clock", "host"});
    for (const auto& [key, value] : row.notes)
        result.push_back({key, value});
    result.push_back({"date", date});
    return result;
}

Json document(const Machine& machine,
              const Readings& readings,
              const std::map<Ceiling, double>& ceilings,
              double floor_us,
              const Json::Array& rows) {
    Json::Object about{
        {"gpu", machine.gpu},
        {"arch", machine.arch},
        {"sms", machine.sms},
        {"memory_bytes", static_cast<double>(machine.memory_bytes)},
        {"l2_bytes", static_cast<double>(machine.l2_bytes)},
        {"cuda", machine.cuda},
        {"cuda_driver", machine.cuda_driver},
    };
    for (const auto& [name, value] : readings)
        about.push_back({name, value});
    Json::Object limits;
    for (const auto& [ceiling, value] : ceilings) {
        const Json::Object limit{{"value", value > 0.0 ? Json(value) : Json()},
                                 {"unit", unit_of(ceiling)}};
        limits.push_back({name_of(ceiling), limit});
    }
    const Json::Object floor{{"value", floor_us}, {"unit", "us"}};
    limits.push_back({"empty kernel", floor});
    return Json::Object{{"machine", about}, {"ceilings", limits}, {"rows", rows}};
}

Json merged(const Json& old, const Json& fresh) {
    const std::string before = member(member(old, "machine"), "gpu").text();
    const std::string now = member(member(fresh, "machine"), "gpu").text();
    if (before != now) {
        throw std::runtime_error("it holds measurements of " +
                                 (before.empty() ? "no known GPU" : before) +
                                 ", these are of " + now + ": choose another file");
    }
    Json::Array rows = member(old, "rows").items();
    for (const Json& row : member(fresh, "rows").items())
        put(rows, row, same_key);
    Json::Object ceilings = member(old, "ceilings").members();
    for (const Json::Member& ceiling : member(fresh, "ceilings").members()) {
        put(ceilings, ceiling, [](const Json::Member& a, const Json::Member& b) {
            return a.key == b.key;
        });
    }
    return Json::Object{
        {"machine", member(fresh, "machine")}, {"ceilings", ceilings}, {"rows", rows}};
}

void merge_into_file(const std::string& path, const Json& fresh) {
    Json result = fresh;
    if (std::filesystem::exists(path)) {
        try {
            result = merged(Json::parse(read_file(path)), fresh);
        } catch (const std::exception& error) {
            throw std::runtime_error(path + " was left as it is: " + error.what());
        }
    }
    const std::string partial = path + ".partial";
    std::ofstream file(partial, std::ios::binary);
    file << result.dump();
    file.close();
    if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
        throw std::runtime_error("cannot write " + path);
    }
}

}  // namespace wb::bench
