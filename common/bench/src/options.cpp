#include <wb/bench/options.h>

#include <getopt.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace wb::bench {

const char* const kUsage =
    "Times every version of an exercise, and the library's version, on this GPU.\n"
    "\n"
    "  --sizes tiny|small|full  how large the problems are (full)\n"
    "  --sizes grid             the last version over many shapes, few samples each\n"
    "  --seconds S              time spent on each row, at least 20 samples (0.2)\n"
    "  --json FILE              merge rows into FILE, by exercise, version and size\n"
    "  --ceilings FILE          take the ceilings that ./learn ceilings has stored\n"
    "  --list                   what would be timed; needs no GPU\n"
    "  --xray FILE              for ./learn xray: run each version once, time nothing\n"
    "  --size TEXT              only sizes that contain TEXT; with --xray, the first\n"
    "  --row TEXT               only rows whose exercise/name contains TEXT\n"
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

std::invalid_argument unknown(const std::string& word) {
    return std::invalid_argument("unknown option '" + word + "'; try --help");
}

/// What a message calls the option: its full name, or the word if it is none of these.
std::string name_of(const option* options, int value, const std::string& word) {
    for (const option* each = options; each->name != nullptr; ++each)
        if (each->val == value) return std::string("--") + each->name;
    return word;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    static const option kOptions[] = {{"sizes", required_argument, nullptr, 's'},
                                      {"seconds", required_argument, nullptr, 't'},
                                      {"json", required_argument, nullptr, 'j'},
                                      {"ceilings", required_argument, nullptr, 'c'},
                                      {"xray", required_argument, nullptr, 'x'},
                                      {"size", required_argument, nullptr, 'n'},
                                      {"row", required_argument, nullptr, 'r'},
                                      {"list", no_argument, nullptr, 'l'},
                                      {"help", no_argument, nullptr, 'h'},
                                      {}};
    std::vector<std::string> words{"bench"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    Options options;
    opterr = 0;  // what is wrong is said below
    optind = 0;  // from the beginning
    const int argc = static_cast<int>(words.size());
    for (int each;
         (each = getopt_long(argc, argv.data(), ":h", kOptions, nullptr)) >= 0;) {
        const std::string value = optarg != nullptr ? optarg : "";
        const std::string name = argv[static_cast<std::size_t>(optind - 1)];
        if (each == ':' || (optarg != nullptr && value.empty()))
            throw std::invalid_argument(
                name_of(kOptions, each == ':' ? optopt : each, name) +
                " needs a value after it");
        switch (each) {
            case 's':
                options.sizes = parse_sizes(value);
                break;
            case 't':
                options.seconds = parse_seconds(value);
                break;
            case 'j':
                options.json = value;
                break;
            case 'c':
                options.ceilings = value;
                break;
            case 'x':
                options.xray = value;
                break;
            case 'n':
                options.size = value;
                break;
            case 'r':
                options.row = value;
                break;
            case 'l':
                options.list = true;
                break;
            case 'h':
                options.help = true;
                break;
            default:
                throw unknown(name);
        }
    }
    if (optind < argc) throw unknown(argv[static_cast<std::size_t>(optind)]);
    if (!options.row.empty() && !options.xray.empty())
        throw std::invalid_argument("--row does not go with --xray, which runs all");
    return options;
}

}  // namespace wb::bench
