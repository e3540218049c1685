/// truth.h: the file that the comparison with a GPU is kept in.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace examples {

/// What ncu_truth.sh says of the machine and of the sizes that fill its GPU.
struct Machine {
    nlohmann::ordered_json description = nlohmann::ordered_json::object();
    std::map<std::string, double> size;  // by program

    explicit Machine(const std::string& path);
};

/// Times and traffic at sizes that fill a GPU, for models of speed.
nlohmann::ordered_json read_times(const std::string& path, const Machine& machine);

/// A number as JSON: without a fraction if it has none, null if it is not known.
nlohmann::ordered_json shortest(double value);

/// Writes the object; the elements of its arrays get a line each.
void write(const nlohmann::ordered_json& document, const std::string& path);

}  // namespace examples
