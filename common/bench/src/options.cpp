#include <wb/bench/options.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace wb::bench {

const char* const kUsage =
    "Times every rung of an exercise, and the library's version, on this GPU.\n"
    "\n"
    "  --sizes tiny|small|full  how large the problems are (full)\n"
    "  --sizes grid             the last rung over many shapes, few samples each\n"
    "  --seconds S              time spent on each row, at least 20 samples (0.2)\n"
    "  --json FILE              merge the rows into FILE, by exercise, rung and size\n"
    "  --ceilings FILE          take the ceilings that ./learn ceilings has stored\n"
    "  --list                   what would be timed; needs no GPU\n"
    "  --xray FILE              for ./learn xray: run every rung once, time nothing\n"
    "  --size TEXT              with --xray: on the first size that contains TEXT\n"
    "  --help                   this text\n";

namespace {

Sizes parse_sizes(const std::string& text) {
    if (text == "tiny") return Sizes::tiny;
    if (text == "small") return Sizes::small;
    if (text == "full") return Sizes::full;
    if (text == "grid") return Sizes::grid;
    throw std::invalid_argument("--sizes is '" + text +
                                "', but must be tiny, small, full or grid");
}

double parse_seconds(const std::string& text) {
    double value = 0.0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end || !(value >= 0.0 && value <= 60.0)) {
        throw std::invalid_argument("--seconds is '" + text +
                                    "', but must be a number from 0 to 60");
    }
    return value;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& name = arguments[i];
        const auto value = [&]() -> const std::string& {
            if (i + 1 >= arguments.size() || arguments[i + 1].empty()) {
                throw std::invalid_argument(name + " needs a value after it");
            }
            return arguments[++i];
        };
        if (name == "--sizes") {
            options.sizes = parse_sizes(value());
        } else if (name == "--seconds") {
            options.seconds = parse_seconds(value());
        } else if (name == "--json") {
            options.json = value();
        } else if (name == "--ceilings") {
            options.ceilings = value();
        } else if (name == "--xray") {
            options.xray = value();
        } else if (name == "--size") {
            options.size = value();
        } else if (name == "--list") {
            options.list = true;
        } else if (name == "--help" || name == "-h") {
            options.help = true;
        } else {
            throw std::invalid_argument("unknown option '" + name + "'; try --help");
        }
    }
    if (!options.size.empty() && options.xray.empty()) {
        throw std::invalid_argument("--size goes with --xray; otherwise --sizes");
    }
    return options;
}

}  // namespace wb::bench
