// The roofline as a picture: two logarithmic axes, the roof, and where a rung stands.
#include "html.h"
#include "words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace xray {
namespace {

constexpr double kWidth = 460;
constexpr double kHeight = 220;
constexpr double kLeft = 56;
constexpr double kBottom = 34;
constexpr double kTop = 12;

/// A range of powers of ten, and the places of values in it.
struct Axis {
    int first;  ///< exponents
    int last;
    double from;  ///< pixels
    double to;

    double at(double value) const {
        const double share = (std::log10(value) - first) / (last - first);
        return from + std::clamp(share, 0.0, 1.0) * (to - from);
    }
};

std::string power_text(int exponent) {
    if (exponent >= 0) return count_text(std::pow(10.0, exponent));
    char text[16];
    std::snprintf(text, sizeof text, "%.*f", -exponent, std::pow(10.0, exponent));
    return text;
}

std::string pixel(double value) {
    char text[24];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

std::string point(const Axis& x, const Axis& y, double intensity, double rate) {
    return pixel(x.at(intensity)) + "," + pixel(y.at(rate));
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
    return "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" text-anchor=\"" +
           anchor + "\">" + escaped(text) + "</text>";
}

std::string grid(const Axis& x, const Axis& y) {
    std::string svg;
    for (int e = x.first; e <= x.last; ++e) {
        const double at = x.at(std::pow(10.0, e));
        svg += "<path class=\"grid\" d=\"M" + pixel(at) + " " + pixel(y.from) + "V" +
               pixel(y.to) + "\"/>" + label(at, y.from + 14, "middle", power_text(e));
    }
    for (int e = y.first; e <= y.last; ++e) {
        const double at = y.at(std::pow(10.0, e));
        svg += "<path class=\"grid\" d=\"M" + pixel(x.from) + " " + pixel(at) + "H" +
               pixel(x.to) + "\"/>" + label(x.from - 6, at + 4, "end", power_text(e));
    }
    return svg;
}

}  // namespace

std::string roofline_html(const Roofline& place, const Gpu& gpu) {
    if (place.flop <= 0) return "";
    const double peak = gpu.fp32 * 1e-12;
    const double expected = place.predicted * 1e-12;
    const auto exponent = [](double value) {
        return static_cast<int>(std::floor(std::log10(value)));
    };
    const double lowest = std::min({place.intensity, place.ridge, 1.0});
    const double highest = std::max(place.intensity, place.ridge);
    const Axis x{exponent(lowest), exponent(highest) + 1, kLeft, kWidth - 12};
    const Axis y{
        std::min(exponent(expected), 0), exponent(peak) + 1, kHeight - kBottom, kTop};
    const double slope = gpu.copy_rate * 1e-12;  // TFLOP/s for each FLOP a byte
    const double left =
        std::max(std::pow(10.0, x.first), std::pow(10.0, y.first) / slope);
    std::string svg =
        "<svg class=\"roofline\" role=\"img\" aria-label=\"roofline\" width=\"" +
        pixel(kWidth) + "\" height=\"" + pixel(kHeight) + "\">" + grid(x, y) +
        "<polyline class=\"roof\" points=\"" + point(x, y, left, left * slope) + " " +
        point(x, y, place.ridge, peak) + " " +
        point(x, y, std::pow(10.0, x.last), peak) + "\"/>";
    svg += "<path class=\"gap\" d=\"M" + point(x, y, place.intensity, expected) + "L" +
           point(x, y, place.intensity, place.roof * 1e-12) + "\"/><circle cx=\"" +
           pixel(x.at(place.intensity)) + "\" cy=\"" + pixel(y.at(expected)) +
           "\" r=\"5\"/>";
    svg +=
        label((x.from + x.to) / 2, kHeight - 4, "middle", "operations for each byte");
    svg += label(x.to, y.at(peak) - 6, "end", ratio_text(peak) + " TFLOP/s");
    return svg +
           "</svg><p class=\"bill\">A model: " + escaped(roofline_text(place, gpu)) +
           "</p>";
}

}  // namespace xray
