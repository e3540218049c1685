// What the C++ compiler says about the rewritten program, in words of CUDA.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace rewriter {

/// A part of CUDA that the simulator lacks: how its headers begin, and its name.
struct Library {
    std::string pattern;  // "cufft*", "thrust/*", "nvml.h"
    std::string name;
};

/// What decides how a message is told.
struct Knowledge {
    std::vector<std::string> own_folders;  // of the simulator, with a slash at the end
    std::set<std::string, std::less<>> missing_names;
    std::vector<std::string> missing_groups;  // "CU_CTX_"
    std::vector<Library> libraries;
};

/// Reads the lists of data/; ends the program if one cannot be read.
Knowledge read_knowledge(const std::string& data_folder);

/// The messages of g++ or clang++, with those changed that speak of the simulator:
/// names and headers of CUDA that it lacks are refused in one line, errors in its
/// headers are told at the user's line, and its functions look as CUDA's do.
std::string retell(const std::string& messages, const Knowledge& knowledge);

}  // namespace rewriter
