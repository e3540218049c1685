// A static object, or a launcher, can call setenv("SIMT_TIGHT", ...).
#include "settings.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

extern char** environ;

namespace wb::testing {
namespace {

using Settings = std::map<std::string, std::string>;

/// "WB_TIME_LIMIT=20" is one; what leads to the supervisor is not.
void add(Settings& settings, const std::string& entry) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || entry.starts_with("WB_CHANNEL=")) return;
    if (entry.starts_with("WB_") || entry.starts_with("SIMT_"))
        settings[entry.substr(0, equals)] = entry.substr(equals + 1);
}

Settings settings_now() {
    Settings settings;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        add(settings, *entry);
    return settings;
}

Settings& settings_given() {
    static Settings& settings = *new Settings;  // never destroyed
    return settings;
}

}  // namespace

void remember_settings() {
    // What the system keeps: setenv() does not reach it.
    std::ifstream file("/proc/self/environ");
    for (std::string entry; std::getline(file, entry, '\0');)
        add(settings_given(), entry);
    if (!file.is_open()) settings_given() = settings_now();
}

void give_setting(const std::string& name, const std::string& value) {
    settings_given()[name] = value;
    setenv(name.c_str(), value.c_str(), 1);
}

bool is_given(const std::string& name) {
    return settings_given().contains(name);
}

const char* const kSettingAdvice =
    "it is to be set in the shell, before the program is started";

std::string told_of_setting(const std::string& name) {
    return "the program has changed the environment variable " + name +
           ", which says how it is tested";
}

std::string changed_setting() {
    const Settings now = settings_now();
    std::string changed;
    for (const auto& [name, value] : now) {
        if (is_given(name)) continue;
        if (changed.empty()) changed = name;
        unsetenv(name.c_str());
    }
    for (const auto& [name, value] : settings_given()) {
        const auto found = now.find(name);
        if (found != now.end() && found->second == value) continue;
        if (changed.empty()) changed = name;
        setenv(name.c_str(), value.c_str(), 1);
    }
    return changed;
}

}  // namespace wb::testing
