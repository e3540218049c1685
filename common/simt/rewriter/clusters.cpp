// The clusters that a kernel asks for:
//
//     template <int N> __global__ void __cluster_dims__(N, 1, 1) k(int* x) {
//
// gets as its first statements
//
//     struct simt_cluster { static bool require() {
//         return ::simt::detail::require_cluster(<its address>, dim3(N, 1, 1)); } };
//     (void)&::simt::detail::kRequiredCluster<simt_cluster>;
//     ::simt::detail::expect_cluster(dim3(N, 1, 1));
//
// The variable template is initialised before main, for each instance of the kernel.
#include "clusters.h"

#include <map>

namespace rewriter {
namespace {

constexpr int kFirstArch = 900;

/// The word __cluster_dims__ in a kernel's head, or kNone.
size_t find_dims(const Source& source, const Function& f) {
    for (size_t i = f.header; i < f.params_open; ++i)
        if (source.is(i, "__cluster_dims__") && source.match(i + 1) != kNone) return i;
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

}  // namespace

void rewrite_clusters(Source& source,
                      const Structure& structure,
                      const KernelTable& kernels,
                      int arch) {
    std::map<std::string, std::string> declared;  // without a body
    for (const Function& f : structure.functions()) {
        const size_t word = find_dims(source, f);
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
        if (f.body_open == kNone)
            declared[key_of(source, structure, f)] =
                source.squeeze(word + 2, source.match(word + 1));
    }
    for (const Function& f : structure.functions()) {
        if (!f.is_global || f.body_open == kNone) continue;
        const size_t word = find_dims(source, f);
        std::string dims;
        if (word != kNone)
            dims = source.squeeze(word + 2, source.match(word + 1));
        else if (!declared.empty())
            dims = declared[key_of(source, structure, f)];
        if (dims.empty()) continue;
        dims = "dim3(" + dims + ")";
        const Kernel* kernel = kernels.find(f.name);
        const std::string name = name_of(source, f);
        std::string pick = "::simt::detail::AnyFunction()";
        if (kernel && kernel->overloaded) pick = cast_of(source, f);
        std::string code;
        if (!name.empty() && !pick.empty())
            code =
                " struct simt_cluster { static bool require() { return "
                "::simt::detail::require_cluster(reinterpret_cast<const void*>(" +
                pick + "(" + name + ")), " + dims +
                "); } }; (void)&::simt::detail::kRequiredCluster<simt_cluster>;";
        source.insert_after(f.body_open,
                            code + " ::simt::detail::expect_cluster(" + dims + ");");
    }
}

}  // namespace rewriter
