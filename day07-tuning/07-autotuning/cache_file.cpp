#include "cache_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

std::string default_cache_directory() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/warpbook";
    const char* home = std::getenv("HOME");
    if (home == nullptr || home[0] != '/')
        throw CacheError(
            "there is no place for a cache: neither XDG_CACHE_HOME nor HOME is set to "
            "an absolute path");
    return std::string(home) + "/.cache/warpbook";
}

std::string cache_path(const std::string& directory, const std::string& key) {
    return directory + "/tuning-" + checksum(key) + ".txt";
}

std::optional<std::string> read_file(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw CacheError("cannot read " + path);
    return text.str();
}

void replace_file(const std::string& path, const std::string& text) {
    const auto fail = [&](const std::string& why) {
        throw CacheError("cannot write " + path + ": " + why);
    };
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                        error);
    if (error) fail(error.message());
    // The process's number keeps two programs that tune at the same time apart.
    const std::string partial = path + "." + std::to_string(getpid()) + ".partial";
    errno = 0;
    std::ofstream file(partial, std::ios::binary);
    file << text;
    file.close();
    if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
        const std::string why = std::strerror(errno);
        std::filesystem::remove(partial, error);
        fail(why);
    }
}

std::string checksum(const std::string& text) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    char digits[17];
    std::snprintf(
        digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    return digits;
}

int power_of_two(std::int64_t n) {
    int k = -1;
    for (; n > 0; n /= 2)
        ++k;
    return k;
}

std::string encode(const std::string& key, const std::string& name, double us) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", us);
    const std::string text = key + "choice " + name + "\nus " + digits + "\n";
    return text + "checksum " + checksum(text) + "\n";
}
