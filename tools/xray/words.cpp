#include "words.h"

#include <cmath>
#include <cstdio>

namespace xray {
namespace {

std::string format(const char* pattern, double value, const char* unit = "") {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value, unit);
    return text;
}

}  // namespace

std::string count_text(double value) {
    std::string digits = format("%.0f", std::abs(value));
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return value < 0 ? "-" + digits : digits;
}

std::string ratio_text(double value) {
    const double rounded = std::round(value * 10.0) / 10.0;
    if (rounded == std::floor(rounded)) return count_text(rounded);
    return format("%.1f", rounded);
}

std::string bytes_text(double bytes) {
    if (bytes < 9999.5) return counted(bytes, "byte");
    for (const char* unit : {"kB", "MB", "GB"}) {
        bytes /= 1e3;
        if (bytes < 999.5)
            return format(bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, unit);
    }
    return format("%.1f TB", bytes / 1e3);
}

std::string percent_text(double fraction) {
    const double percent = 100.0 * fraction;
    return format(percent < 9.95 && percent > 0.0 ? "%.1f %%" : "%.0f %%", percent);
}

std::string time_text(double seconds) {
    const double us = seconds * 1e6;
    if (us < 0.0995) return format("%.0f ns", us * 1e3);
    if (us < 99.95) return format("%.1f us", us);
    if (us < 999.5) return format("%.0f us", us);
    return format(us < 99950 ? "%.2f ms" : "%.0f ms", us / 1e3);
}

std::string dim_text(const Dim3& dim) {
    std::string text = std::to_string(dim[0]);
    if (dim[1] > 1 || dim[2] > 1) text += " x " + std::to_string(dim[1]);
    if (dim[2] > 1) text += " x " + std::to_string(dim[2]);
    return text;
}

std::string position_text(const Dim3& position) {
    return "(" + std::to_string(position[0]) + "," + std::to_string(position[1]) + "," +
           std::to_string(position[2]) + ")";
}

std::string counted(double value, const std::string& noun) {
    return ratio_text(value) + " " + noun + (ratio_text(value) == "1" ? "" : "s");
}

std::string relative_to(const std::string& root, const std::string& path) {
    if (!root.empty() && path.rfind(root + "/", 0) == 0)
        return path.substr(root.size() + 1);
    return path;
}

std::string place_text(const Place& place, const std::string& root) {
    if (place.file.empty()) return "an unknown line";
    return relative_to(root, place.file) + ":" + std::to_string(place.line);
}

}  // namespace xray
