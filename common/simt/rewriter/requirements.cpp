// What the head of a kernel asks of its launches:
//
//     template <int N> __global__ void __launch_bounds__(N, 2) k(int* x) {
//
// gets as its first statements
//
//     struct simt_bounds { static bool require() {
//         return ::simt::detail::require_bounds(<its address>, N, 2); } };
//     (void)&::simt::detail::kRequired<simt_bounds>;
//     ::simt::detail::expect_bounds(N, 2);
//
// and __cluster_dims__(N, 1, 1) the same with require_cluster and dim3(N, 1, 1). The
// variable template is initialised before main, for each instance of the kernel. The
// last statement is for launches that do not know the kernel's address.
#include "requirements.h"

#include <map>

namespace rewriter {
namespace {

constexpr int kFirstArch = 900;

/// A word with values in the head of a kernel.
struct Word {
    const char* text;
    const char* name;   // what the runtime calls it
    const char* first;  // of the runtime's argument, around the word's values
    const char* last;
    bool always_expected;  // also where every launch knows the kernel's address
};
constexpr Word kClusterDims = {"__cluster_dims__", "cluster", "dim3(", ")", true};
constexpr Word kLaunchBounds = {"__launch_bounds__", "bounds", "", "", false};

/// The word in a kernel's head, or kNone.
size_t find_word(const Source& source, const Function& f, const Word& word) {
    for (size_t i = f.header; i < f.params_open; ++i)
        if (source.is(i, word.text) && source.match(i + 1) != kNone) return i;
    return kNone;
}

/// Calls `part(first, last)` for what stands between commas in tokens [first, last).
template <class F>
void for_each_part(const Source& source, size_t first, size_t last, F part) {
    size_t begin = first;
    for (size_t i = first; i < last; ++i) {
        if (source.is_any(i, {"(", "[", "{"}) && source.match(i) != kNone) {
            i = source.match(i);
        } else if (source.is(i, "<")) {
            const size_t close = source.match_angle(i);
            if (close != kNone && close < last) i = close;
        } else if (source.is(i, ",")) {
            part(begin, i);
            begin = i + 1;
        }
    }
    if (begin < last) part(begin, last);
}

/// The name that tokens [first, last) declare, `T*`, `int N = 3` or `class... A`, with
/// "..." behind that of a pack; "" if there is none.
std::string declared_name(const Source& source, size_t first, size_t last) {
    bool pack = false;
    size_t name = kNone;
    for (size_t i = first; i < last && !source.is(i, "="); ++i) {
        if (source.is_any(i, {"(", "["}) && source.match(i) != kNone) {
            if (source.is(i, "(") && name != kNone) return "";  // of a function type
            i = source.match(i);
        } else if (source.is(i, "<")) {
            const size_t close = source.match_angle(i);
            if (close != kNone && close < last) i = close;
            name = kNone;
        } else {
            pack |= source.is(i, ".");
            name = source.is_identifier(i) ? i : kNone;
        }
    }
    if (name == kNone || name == first) return "";
    return std::string(source.text(name)) + (pack ? "..." : "");
}

/// `k<T, N>`: the kernel whose body is being read. "" if a template parameter has no
/// name.
std::string name_of(const Source& source, const Function& f) {
    // A specialisation says its arguments itself.
    if (f.is_specialization) return source.squeeze(f.name_token, f.params_open);
    std::string name(f.name);
    if (!f.is_template()) return name;
    std::string arguments;
    bool named = true;
    for_each_part(source,
                  f.template_open + 1,
                  source.match_angle(f.template_open),
                  [&](size_t first, size_t last) {
                      const std::string one = declared_name(source, first, last);
                      named &= !one.empty();
                      arguments += (arguments.empty() ? "" : ", ") + one;
                  });
    return named ? name + "<" + arguments + ">" : "";
}

/// Picks one of several kernels of a name by its parameters; "" if one has no name.
std::string cast_of(const Source& source, const Function& f) {
    std::string types;
    bool named = true;
    for_each_part(
        source, f.params_open + 1, f.params_close, [&](size_t first, size_t last) {
            std::string one = declared_name(source, first, last);
            named &= !one.empty();
            const bool pack = one.ends_with("...");
            if (pack) one.resize(one.size() - 3);
            types += (types.empty() ? "decltype(" : ", decltype(") + one + ")" +
                     (pack ? "..." : "");
        });
    return named ? "static_cast<void (*)(" + types + ")>" : "";
}

/// Declarations and definitions of the same kernel have this in common.
std::string key_of(const Source& source,
                   const Structure& structure,
                   const Function& f) {
    std::string key(f.name);
    for (int s = f.scope; s > 0; s = structure.scopes()[s].parent) {
        const Scope& scope = structure.scopes()[s];
        key += '|' + source.squeeze(scope.header, scope.open);
    }
    return key + '|' +
           std::to_string(count_arguments(source, f.params_open + 1, f.params_close));
}

/// Has a parameter between `open` and `close` a name that tokens [first, last) mention?
/// Then they mean something else in the kernel's body, or in another declaration.
bool is_hidden(
    const Source& source, size_t open, size_t close, size_t first, size_t last) {
    bool hidden = false;
    for_each_part(source, open + 1, close, [&](size_t from, size_t to) {
        std::string name = declared_name(source, from, to);
        if (name.ends_with("...")) name.resize(name.size() - 3);
        for (size_t i = first; i < last && !name.empty(); ++i)
            hidden |= source.is(i, name);
    });
    return hidden;
}

class Requirement {
 public:
    Requirement(Source& source,
                const Structure& structure,
                const KernelTable& kernels,
                const Word& word)
        : source_(source), structure_(structure), kernels_(kernels), word_(word) {}

    void rewrite() {
        for (const Function& f : structure_.functions())
            if (f.is_global && f.body_open == kNone) read_declaration(f);
        for (const Function& f : structure_.functions())
            if (f.is_global && f.body_open != kNone) rewrite(f);
    }

 private:
    /// The values of the word in the head of `f`, or "".
    std::string values_of(const Function& f) const {
        const size_t at = find_word(source_, f, word_);
        if (at == kNone) return "";
        const size_t first = at + 2, last = source_.match(at + 1);
        if (is_hidden(source_, f.params_open, f.params_close, first, last)) return "";
        return source_.squeeze(first, last);
    }

    void read_declaration(const Function& f) {
        const size_t at = find_word(source_, f, word_);
        if (at == kNone) return;
        if (f.is_template() && is_hidden(source_,
                                         f.template_open,
                                         source_.match_angle(f.template_open),
                                         at + 2,
                                         source_.match(at + 1)))
            return;
        declared_[key_of(source_, structure_, f)] = values_of(f);
    }

    void rewrite(const Function& f) {
        std::string values = values_of(f);
        if (values.empty() && !declared_.empty())
            values = declared_[key_of(source_, structure_, f)];
        if (values.empty()) return;
        values = word_.first + values + word_.last;
        const Kernel* kernel = kernels_.find(f.name);
        const bool overloaded = kernel && kernel->overloaded;
        const std::string name = name_of(source_, f);
        const std::string pick =
            overloaded ? cast_of(source_, f) : "::simt::detail::AnyFunction()";
        const std::string what = word_.name;
        std::string code;
        if (!name.empty() && !pick.empty())
            code = " struct simt_" + what +
                   " { static bool require() { return ::simt::detail::require_" + what +
                   "(reinterpret_cast<const void*>(" + pick + "(" + name + ")), " +
                   values + "); } }; (void)&::simt::detail::kRequired<simt_" + what +
                   ">;";
        if (word_.always_expected || overloaded || f.is_template() || code.empty())
            code += " ::simt::detail::expect_" + what + "(" + values + ");";
        source_.insert_after(f.body_open, code);
    }

    Source& source_;
    const Structure& structure_;
    const KernelTable& kernels_;
    const Word& word_;
    std::map<std::string, std::string> declared_;  // values of those without a body
};

void check_clusters(Source& source, const Structure& structure, int arch) {
    for (const Function& f : structure.functions()) {
        const size_t word = find_word(source, f, kClusterDims);
        if (word == kNone) continue;
        if (!f.is_global)
            source.error(word,
                         "__cluster_dims__ is only allowed on a __global__ function");
        if (arch < kFirstArch)
            source.error(word,
                         "__cluster_dims__ is not supported for this GPU architecture: "
                         "compile with -arch=sm_90");
        for (size_t i = word + 2; i < source.match(word + 1); ++i)
            if (source.is(i, "0") && source.is_any(i - 1, {"(", ","}) &&
                source.is_any(i + 1, {")", ","}))
                source.error(i, "__cluster_dims__ arguments must be positive integers");
    }
}

}  // namespace

void rewrite_requirements(Source& source,
                          const Structure& structure,
                          const KernelTable& kernels,
                          int arch) {
    check_clusters(source, structure, arch);
    for (const Word& word : {kClusterDims, kLaunchBounds})
        Requirement(source, structure, kernels, word).rewrite();
}

}  // namespace rewriter
