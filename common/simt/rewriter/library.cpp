// Functions of the C and C++ libraries that have no device version.
//
// nvcc has a device version of most of <cmath>, and of printf, malloc, free, assert,
// memcpy, memset and clock. Everything else in the libraries is for the host.
// std::move, std::forward and the members of initializer_list are the exceptions that
// it makes.
#include <set>

#include "calls.h"

namespace rewriter {
namespace {

using Names = std::set<std::string_view>;

constexpr const char* kAdvice = "the library has no device version of it";

const Names kC = {"abort",   "atexit",   "atof",    "atoi",   "atol",    "bsearch",
                  "calloc",  "drand48",  "exit",    "fclose", "fflush",  "fgets",
                  "fopen",   "fprintf",  "fputs",   "fread",  "fscanf",  "fwrite",
                  "getchar", "getenv",   "memchr",  "memcmp", "memmove", "perror",
                  "putchar", "puts",     "qsort",   "rand",   "random",  "realloc",
                  "scanf",   "snprintf", "sprintf", "srand",  "srandom", "sscanf",
                  "strcat",  "strchr",   "strcmp",  "strcpy", "strlen",  "strncmp",
                  "strncpy", "strstr",   "strtod",  "strtol", "system",  "time"};

/// Functions of CUDA's runtime that only the host may call.
const Names kRuntime = {
#include "host_runtime.inc"
};

bool is_for_host(std::string_view name) {
    return kC.contains(name) || kRuntime.contains(name);
}

/// Functions of namespace std that are constexpr, and those that are not.
const Names kConstexpr = {"accumulate",
                          "addressof",
                          "adjacent_find",
                          "all_of",
                          "any_of",
                          "as_const",
                          "back",
                          "begin",
                          "binary_search",
                          "bit_cast",
                          "bit_ceil",
                          "bit_floor",
                          "bit_width",
                          "cbegin",
                          "cend",
                          "clamp",
                          "copy",
                          "copy_if",
                          "copy_n",
                          "count",
                          "count_if",
                          "countl_one",
                          "countl_zero",
                          "countr_one",
                          "countr_zero",
                          "data",
                          "distance",
                          "empty",
                          "end",
                          "equal",
                          "exchange",
                          "fill",
                          "fill_n",
                          "find",
                          "find_if",
                          "for_each",
                          "for_each_n",
                          "gcd",
                          "generate",
                          "get",
                          "has_single_bit",
                          "inner_product",
                          "iota",
                          "is_sorted",
                          "iter_swap",
                          "lcm",
                          "lower_bound",
                          "make_heap",
                          "make_pair",
                          "make_tuple",
                          "max",
                          "max_element",
                          "midpoint",
                          "min",
                          "min_element",
                          "minmax",
                          "minmax_element",
                          "next",
                          "none_of",
                          "nth_element",
                          "partial_sort",
                          "partial_sum",
                          "partition",
                          "popcount",
                          "prev",
                          "reduce",
                          "remove_if",
                          "reverse",
                          "rotate",
                          "rotl",
                          "rotr",
                          "size",
                          "sort",
                          "ssize",
                          "swap",
                          "tie",
                          "transform",
                          "transform_reduce",
                          "unique",
                          "upper_bound"};
const Names kPlain = {"async",
                      "getline",
                      "make_shared",
                      "make_unique",
                      "shuffle",
                      "stable_sort",
                      "stof",
                      "stoi",
                      "terminate",
                      "to_string"};

/// Types whose objects live on the host: their constructor or destructor does.
const Names kTypes = {"basic_string",  "condition_variable",
                      "deque",         "forward_list",
                      "future",        "list",
                      "map",           "multimap",
                      "multiset",      "priority_queue",
                      "queue",         "random_device",
                      "set",           "shared_ptr",
                      "stack",         "string",
                      "thread",        "unique_ptr",
                      "unordered_map", "unordered_set",
                      "valarray",      "vector"};

/// Functions of CUDA that are for the device only.
const Names kDevice = {
    "__syncthreads",    "__syncwarp",          "__shfl_sync",   "__shfl_up_sync",
    "__shfl_down_sync", "__shfl_xor_sync",     "__ballot_sync", "__any_sync",
    "__all_sync",       "__activemask",        "__ldg",         "__expf",
    "__threadfence",    "__threadfence_block", "atomicAdd",     "atomicSub",
    "atomicMax",        "atomicMin",           "atomicCAS",     "atomicExch",
    "clock64"};

/// Types of std whose members have no device version, though an object may come to the
/// device as a parameter.
const Names kObjects = {"array",
                        "vector",
                        "string",
                        "span",
                        "optional",
                        "map",
                        "deque",
                        "unordered_map",
                        "atomic",
                        "function",
                        "bitset",
                        "list",
                        "set",
                        "unique_ptr"};

bool is_std(const Source& source, size_t i) {
    return source.is(i - 1, "::") && source.is(i - 2, "std") && !source.is(i - 3, "::");
}

/// One past `name` or `name<…>`.
size_t after_arguments(const Source& source, size_t i) {
    if (!source.is(i + 1, "<")) return i + 1;
    const size_t close = source.match_angle(i + 1);
    return close == kNone ? i + 1 : close + 1;
}

/// `std::vector<int> v(3)`, `std::string("x")`: makes an object, no pointer to one.
bool makes_object(const Source& source, size_t i) {
    const size_t after = after_arguments(source, i);
    const bool in_list = source.is_any(i - 3, {"<", ",", "using"});
    if (source.is_any(i - 3, {"static", "extern"}) || in_list) return false;
    if (source.is_any(after, {"(", "{"})) return true;
    return source.is_identifier(after) &&
           source.is_any(after + 1, {";", "(", "{", "=", "["});
}

/// `std::numeric_limits<float>::max()`.
bool is_limit(const Source& source, size_t i) {
    const size_t after = after_arguments(source, i);
    return source.is(i, "numeric_limits") && source.is(after, "::") &&
           source.is(after + 2, "(");
}

class LibraryChecker {
 public:
    LibraryChecker(Source& source,
                   const Structure& structure,
                   const DeviceCode& code,
                   bool relaxed)
        : source_(source), structure_(structure), code_(code), relaxed_(relaxed) {}

    void check(size_t i) {
        if (is_std(source_, i)) {
            in_std(i);
        } else if (is_for_host(source_.text(i)) && source_.is(i + 1, "(") &&
                   !source_.is(i - 1, "::") && is_called(source_, code_, i)) {
            report(i, i, source_.text(i), false);
        } else if (kDevice.contains(source_.text(i))) {
            if (!source_.is(i + 1, "(") || code_.side(i) != Side::host) return;
            if (!code_.is_evaluated(i) || !is_called(source_, code_, i)) return;
            report_call(source_, code_, i, source_.text(i), Side::host, false);
        } else if (source_.is_any(i + 1, {".", "->", "[", "("}) &&
                   !source_.is_any(i - 1, {".", "->", "::"})) {
            object(i);
        }
    }

 private:
    void in_std(size_t i) {
        const std::string_view name = source_.text(i);
        const bool call = source_.is(after_arguments(source_, i), "(");
        if (name == "cout" || name == "cerr") {
            if (!source_.is(i + 1, "<") || !refused(i)) return;
            source_.error(i,
                          "using std::" + std::string(name) + " in a " +
                              code_.describe(i) + " is not allowed: use printf");
        } else if (is_limit(source_, i)) {
            const size_t member = after_arguments(source_, i) + 1;
            if (!relaxed_) report(i, i, source_.squeeze(i - 2, member + 1), true);
        } else if (call && kConstexpr.contains(name)) {
            if (!relaxed_) report(i, i - 2, qualified(name), true);
        } else if (call && (kPlain.contains(name) || kC.contains(name))) {
            report(i, i - 2, qualified(name), false);
        } else if (kTypes.contains(name) && makes_object(source_, i) && refused(i)) {
            report_call(
                source_, code_, i, qualified(name), Side::device, false, kAdvice);
        }
    }

    /// `v.size()`, `v[2]` or `f(3)`, where v is declared as `std::vector<int>& v`.
    void object(size_t i) {
        if (code_.side(i) != Side::device) return;
        std::string_view type;
        bool pointer = false;
        const Function* f = structure_.function_of(i);
        for (size_t k = f->params_open + 1; k < i; ++k) {
            if (source_.text(k) != source_.text(i)) continue;
            if (source_.is_any(k - 1, {".", "->", "::"})) continue;
            size_t last = k - 1;
            bool star = false;
            while (source_.is_any(last, {"*", "&", "const"}))
                star |= source_.is(last--, "*");
            if (source_.is(last, ">")) {
                const size_t open = source_.match_angle_back(last);
                if (open == kNone) return;
                last = open - 1;
            }
            const bool declares = source_.is_identifier(last) &&
                                  (last + 1 < k || source_.is_identifier(k - 1)) &&
                                  !source_.is_any(last, {"return", "else", "case"});
            if (!declares) continue;
            if (!type.empty() || !is_std(source_, last) || source_.is(k + 1, "["))
                return;
            type = source_.text(last);
            pointer = star;
        }
        if (!kObjects.contains(type)) return;
        std::string member = "operator" + std::string(source_.text(i + 1));
        if (source_.is_any(i + 1, {".", "->"})) {
            if (!source_.is(i + 3, "(") || pointer != source_.is(i + 1, "->")) return;
            member = source_.text(i + 2);
        } else {
            const bool call = source_.is(i + 1, "(");
            if (pointer || call != (type == "function")) return;
            if (!call && type != "array" && type != "vector" && type != "string" &&
                type != "span" && type != "map" && type != "deque") {
                return;
            }
            member += call ? ")" : "]";
        }
        const bool is_constexpr = type != "atomic" && type != "function";
        if (is_constexpr && relaxed_) return;
        report(i, i, qualified(type) + "::" + member, is_constexpr);
    }

    static std::string qualified(std::string_view name) {
        return "std::" + std::string(name);
    }

    bool refused(size_t i) const {
        return code_.side(i) == Side::device && code_.is_evaluated(i);
    }

    void report(size_t i, size_t first, std::string_view name, bool is_constexpr) {
        if (!refused(i) || (first != i && !is_called(source_, code_, first))) return;
        report_call(source_, code_, i, name, Side::device, is_constexpr, kAdvice);
    }

    Source& source_;
    const Structure& structure_;
    const DeviceCode& code_;
    bool relaxed_;
};

}  // namespace

void check_library_calls(Source& source,
                         const Structure& structure,
                         const DeviceCode& code,
                         bool relaxed) {
    // A function of the user's may have the name of the C library's.
    Names own;
    for (const Function& f : structure.functions()) {
        if ((is_for_host(f.name) || kDevice.contains(f.name)) &&
            !source.in_system_header(f.name_token))
            own.insert(f.name);
    }
    LibraryChecker checker(source, structure, code, relaxed);
    for (const TokenRange& range : source.user_tokens()) {
        for (size_t i = range.first + 3; i < range.last; ++i) {
            if (source.is_identifier(i) && structure.in_function(i) &&
                !own.contains(source.text(i))) {
                checker.check(i);
            }
        }
    }
}

}  // namespace rewriter
