#include <wb/bench/stored_ceilings.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace wb::bench {

StoredCeilings ceilings_of(const Json& stored, const Machine& machine) {
    const Json& ceilings = member(stored, "ceilings");
    StoredCeilings result{{}, text_of(stored, "date")};
    if (member(stored, "machine").is_null() || ceilings.is_null() ||
        result.date.empty()) {
        throw std::runtime_error(
            "these are no ceilings: machine, ceilings or date is missing");
    }
    const std::string name = text_of(member(stored, "machine"), "gpu");
    if (name != machine.gpu) {
        throw std::runtime_error("these are the ceilings of " +
                                 (name.empty() ? "no known GPU" : name) +
                                 ", but this is " + machine.gpu);
    }
    for (int i = 0; i <= static_cast<int>(Ceiling::bf16); ++i) {
        const auto ceiling = static_cast<Ceiling>(i);
        const Json& value = member(member(ceilings, name_of(ceiling)), "value");
        if (value.is_number() && value > 0.0)
            result.values[ceiling] = value.get<double>();
    }
    return result;
}

StoredCeilings read_ceilings(const std::string& path, const Machine& machine) {
    const Json stored = read_json(path);
    try {
        return ceilings_of(stored, machine);
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

void write_ceilings(const std::string& path,
                    const Machine& machine,
                    const Readings& readings,
                    const std::map<Ceiling, double>& values,
                    double floor_us) {
    Json whole = document(machine, readings, values, floor_us, {});
    whole["date"] = today();
    write_json(path, whole);
}

}  // namespace wb::bench
