/// cache_file.h: files of a cache: where they are, and how they are read and replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

/// A file or directory of the cache that cannot be used; the message names it.
class CacheError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Where a user's caches belong (XDG Base Directory Specification):
/// $XDG_CACHE_HOME/warpbook, or $HOME/.cache/warpbook if that is not set or not an
/// absolute path. Throws CacheError if HOME is not set either.
std::string default_cache_directory();

/// The file for a key: its checksum is the file's name.
std::string cache_path(const std::string& directory, const std::string& key);

/// The whole file, or nothing if there is none.
///
/// Throws CacheError if it is there but cannot be read
std::optional<std::string> read_file(const std::string& path);

/// Writes a file beside it and renames that: whoever reads sees the old text or the new
/// one, never half of one, also if the program is killed. Makes the directory.
///
/// Throws CacheError
void replace_file(const std::string& path, const std::string& text);

/// 64 bits in hexadecimal that change if the text does (FNV-1a: Fowler, Noll, Vo). It
/// tells damage, not malice.
std::string checksum(const std::string& text);

/// k for 2^k <= n < 2^(k + 1); -1 for 0.
int power_of_two(std::int64_t n);

/// What a file holds: the key, then "choice", "us" and a checksum of all that.
///
///     gpu NVIDIA H100 80GB HBM3
///     ...
///     choice tile 32, 4 rows, swizzled, float4
///     us 183.29600989818573
///     checksum 4f1c03a5b7d2e869
///
/// @param name  of the configuration: its number would mean another one as soon as the
///              table has changed
std::string encode(const std::string& key, const std::string& name, double us);
