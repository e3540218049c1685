#include <wb/bench/json.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace wb::bench {
namespace {

constexpr int kLevelsWithLines = 2;

void write(std::string& out, const Json& value, int depth) {
    if (value.is_number_float() && std::isfinite(value.get<double>())) {
        char digits[40];  // 42, where the library writes 42.0
        out.append(
            digits,
            std::to_chars(digits, digits + sizeof digits, value.get<double>()).ptr);
        return;
    }
    if (!value.is_structured()) {
        out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
        return;
    }
    const bool lines = depth < kLevelsWithLines && !value.empty();
    const auto new_line = [&](int levels) {
        if (lines) out += "\n" + std::string(2 * static_cast<std::size_t>(levels), ' ');
    };
    out += value.is_array() ? '[' : '{';
    const char* separator = "";
    for (const auto& item : value.items()) {
        out += separator;
        separator = lines ? "," : ", ";
        new_line(depth + 1);
        if (value.is_object()) out += Json(item.key()).dump() + ": ";
        write(out, item.value(), depth + 1);
    }
    new_line(depth);
    out += value.is_array() ? ']' : '}';
}

Json known(double value) {
    return value > 0.0 ? Json(value) : Json();
}

bool same_key(const Json& a, const Json& b) {
    for (const char* key : {"exercise", "rung", "size"}) {
        if (text_of(a, key) != text_of(b, key)) return false;
    }
    return true;
}

}  // namespace

const Json& member(const Json& object, const std::string& key) {
    static const Json none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

std::string text_of(const Json& object, const std::string& key) {
    const Json& text = member(object, key);
    return text.is_string() ? text.get<std::string>() : "";
}

std::string dump(const Json& value) {
    std::string out;
    write(out, value, 0);
    return out + "\n";
}

Json read_json(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    try {
        return Json::parse(file);
    } catch (const Json::exception& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

void write_json(const std::string& path, const Json& value) {
    const std::string partial = path + ".partial";
    std::ofstream file(partial, std::ios::binary);
    file << dump(value);
    file.close();
    if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
        std::remove(partial.c_str());
        throw std::runtime_error("cannot write " + path);
    }
}

Json row_json(const Row& row, const std::string& date) {
    const Statistics& us = row.timing.us;
    const bool compute = is_compute(row.ceiling);
    Json result{
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
        {"ceiling_value", known(row.ceiling_value)},
        {"percent", known(row.percent())},
        {"scratch_bytes", row.scratch_bytes},
    };
    if (row.tokens > 0.0) result["tokens_per_s"] = row.token_rate();
    if (row.kernels > 0.0) {
        result["kernels"] = row.kernels;
        result["us_a_kernel"] = us.median / row.kernels;
    }
    if (row.host_time) result["clock"] = "host";
    for (const auto& [key, value] : row.notes)
        result[key] = value;
    result["date"] = date;
    return result;
}

Json document(const Machine& machine,
              const Readings& readings,
              const std::map<Ceiling, double>& ceilings,
              double floor_us,
              const std::vector<Row>& rows) {
    Json result{{"machine",
                 {{"gpu", machine.gpu},
                  {"arch", machine.arch},
                  {"sms", machine.sms},
                  {"memory_bytes", machine.memory_bytes},
                  {"l2_bytes", machine.l2_bytes},
                  {"cuda", machine.cuda},
                  {"cuda_driver", machine.cuda_driver}}},
                {"ceilings", Json::object()},
                {"rows", Json::array()}};
    for (const auto& [name, value] : readings)
        result["machine"][name] = value;
    for (const auto& [ceiling, value] : ceilings) {
        result["ceilings"][name_of(ceiling)] = {{"value", known(value)},
                                                {"unit", unit_of(ceiling)}};
    }
    result["ceilings"]["empty kernel"] = {{"value", floor_us}, {"unit", "us"}};
    for (const Row& row : rows)
        result["rows"].push_back(row_json(row, today()));
    return result;
}

Json merged(const Json& old, const Json& fresh) {
    const std::string before = text_of(member(old, "machine"), "gpu");
    const std::string now = text_of(member(fresh, "machine"), "gpu");
    if (before != now) {
        throw std::runtime_error("it holds measurements of " +
                                 (before.empty() ? "no known GPU" : before) +
                                 ", these are of " + now + ": choose another file");
    }
    Json rows = Json::array();
    for (const Json& row : member(old, "rows"))
        rows.push_back(row);
    for (const Json& row : member(fresh, "rows")) {
        const auto same = [&](const Json& other) { return same_key(other, row); };
        const auto place = std::find_if(rows.begin(), rows.end(), same);
        if (place == rows.end()) {
            rows.push_back(row);
        } else {
            *place = row;
        }
    }
    Json ceilings = Json::object();
    for (const Json* document : {&old, &fresh}) {
        for (const auto& item : member(*document, "ceilings").items())
            ceilings[item.key()] = item.value();
    }
    return Json{
        {"machine", member(fresh, "machine")}, {"ceilings", ceilings}, {"rows", rows}};
}

void merge_into_file(const std::string& path, const Json& fresh) {
    Json result = fresh;
    if (std::filesystem::exists(path)) {
        try {
            result = merged(read_json(path), fresh);
        } catch (const std::exception& error) {
            throw std::runtime_error(path + " was left as it is: " + error.what());
        }
    }
    write_json(path, result);
}

}  // namespace wb::bench
