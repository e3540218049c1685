/// recorded.h: landscapes that were recorded on a GPU (print_landscape.cpp).
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "landscape.h"

/// A size of the file.
struct Recorded {
    Problem problem;
    std::vector<Site> sites;

    std::string text() const {
        return problem.family + " " + std::to_string(problem.rows) + " x " +
               std::to_string(problem.cols);
    }
};

struct Recording {
    Gpu gpu;
    std::vector<Recorded> sizes;
};

inline std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, '\t');)
        cells.push_back(cell);
    return cells;
}

/// Each part of a configuration's name is the value of a parameter: as a number, any
/// that is the same for the same words.
inline std::vector<int> parameters_of(const std::string& name) {
    std::vector<int> parameters;
    std::istringstream text(name);
    for (std::string part; std::getline(text, part, ',');) {
        int value = 0;
        for (const char c : part)
            value = (value * 31 + c) % 1000003;
        parameters.push_back(value);
    }
    return parameters;
}

/// Reads a recording. Throws std::runtime_error that names the file and the line.
inline Recording read_recording(const std::string& path) {
    std::ifstream file(path);
    Recording all;
    std::string line;
    if (!file || !std::getline(file, line))
        throw std::runtime_error("cannot read " + path);
    int number = 1;
    try {
        const auto head = cells_of(line.substr(2));
        all.gpu = {head.at(0),
                   head.at(1),
                   head.at(2),
                   head.at(3),
                   std::stoi(head.at(4)),
                   std::stoi(head.at(5)),
                   std::stoi(head.at(6)),
                   std::stod(head.at(7)),
                   std::stod(head.at(8)),
                   std::stod(head.at(9))};
        while (std::getline(file, line)) {
            ++number;
            const auto cells = cells_of(line);
            const Problem problem{
                cells.at(0), std::stoll(cells.at(1)), std::stoll(cells.at(2))};
            const auto same = [&](const Problem& p) {
                return p.family == problem.family && p.rows == problem.rows &&
                       p.cols == problem.cols;
            };
            if (all.sizes.empty() || !same(all.sizes.back().problem))
                all.sizes.push_back({problem, {}});
            Site site;
            site.name = cells.at(3);
            site.parameters = parameters_of(site.name);
            site.outcome = cells.at(4) == "right" ? Outcome::right : Outcome::refused;
            Footprint& f = site.footprint;
            f.threads = std::stoi(cells.at(5));
            f.shared_bytes = std::stoi(cells.at(6));
            f.blocks_per_sm = std::stoi(cells.at(7));
            f.takes_shape = site.outcome == Outcome::right || f.blocks_per_sm == 0;
            f.blocks = std::stoll(cells.at(8));
            f.bytes = std::stod(cells.at(9));
            f.bytes_in_flight = std::stod(cells.at(10));
            f.shared_passes = std::stod(cells.at(11));
            for (size_t i = 12; i < cells.size(); ++i)
                site.recorded.push_back(std::stod(cells[i]));
            if (site.outcome == Outcome::right) site.us = site.recorded.at(2);
            all.sizes.back().sites.push_back(site);
        }
    } catch (const std::exception&) {
        throw std::runtime_error(path + ":" + std::to_string(number) +
                                 ": this is no line of a landscape");
    }
    return all;
}
