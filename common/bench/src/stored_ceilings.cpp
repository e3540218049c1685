#include <wb/bench/report.h>
#include <wb/bench/stored_ceilings.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace wb::bench {

StoredCeilings ceilings_of(const Json& stored, const Machine& machine) {
    const Json* about = stored.find("machine");
    const Json* ceilings = stored.find("ceilings");
    const Json* date = stored.find("date");
    if (about == nullptr || ceilings == nullptr || date == nullptr) {
        throw std::runtime_error(
            "these are no ceilings: machine, ceilings or date "
            "is missing");
    }
    const Json* gpu = about->find("gpu");
    const std::string name = gpu == nullptr ? "" : gpu->text();
    if (name != machine.gpu) {
        throw std::runtime_error("these are the ceilings of " +
                                 (name.empty() ? "no known GPU" : name) +
                                 ", but this is " + machine.gpu);
    }
    StoredCeilings result;
    result.date = date->text();
    for (int i = 0; i <= static_cast<int>(Ceiling::bf16); ++i) {
        const auto ceiling = static_cast<Ceiling>(i);
        const Json* entry = ceilings->find(name_of(ceiling));
        const Json* value = entry == nullptr ? nullptr : entry->find("value");
        if (value != nullptr && value->number() > 0.0)
            result.values[ceiling] = value->number();
    }
    return result;
}

StoredCeilings read_ceilings(const std::string& path, const Machine& machine) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw std::runtime_error("cannot read " + path);
    try {
        return ceilings_of(Json::parse(text.str()), machine);
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

void write_ceilings(const std::string& path,
                    const Machine& machine,
                    const Readings& readings,
                    const std::map<Ceiling, double>& values,
                    double floor_us) {
    Json::Object whole = document(machine, readings, values, floor_us, {}).members();
    whole.push_back({"date", today()});
    const std::string partial = path + ".partial";
    std::ofstream file(partial, std::ios::binary);
    file << Json(whole).dump();
    file.close();
    if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
        std::remove(partial.c_str());
        throw std::runtime_error("cannot write " + path);
    }
}

}  // namespace wb::bench
