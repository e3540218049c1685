// Device variables and the words that vanish.
#include "words.h"

#include <set>
#include <string_view>

#include "declaration.h"

namespace rewriter {
namespace {

bool is_memory_word(const Source& source, size_t i) {
    return source.is_any(i, {"__device__", "__constant__", "__managed__"});
}

/// Tokens that belong to the head of a function: there, __device__ says where it runs.
std::vector<bool> function_heads(const Source& source, const Structure& structure) {
    std::vector<bool> result(source.size() + 1);
    for (const Function& f : structure.functions()) {
        for (size_t i = f.header; i <= f.params_close; ++i)
            result[i] = true;
    }
    return result;
}

/// Does the __device__ at token i belong to a lambda, `[=] __device__ (int x) {…}`?
bool follows_captures(const Source& source, size_t i) {
    while (i > 0 && source.is_any(i - 1, {"__device__", "__host__"}))
        --i;
    return i > 0 && source.is_any(i - 1, {"]", ")", ">"}) &&
           source.is_any(i + 1, {"(", "{", "__device__", "__host__", "mutable", "->"});
}

bool has_word(const Source& source, const Declaration& d, std::string_view word) {
    for (size_t i = d.first; i < d.type_last; ++i) {
        if (source.is(i, word)) return true;
    }
    return false;
}

/// Do the words around token i say `inline` already? Saying it twice is an error.
bool is_said_inline(const Source& source, size_t i) {
    const auto says = [&](size_t k) {
        return source.is_any(k, {"inline", "__inline__", "__inline"});
    };
    for (size_t k = i; k > 0 && source.is_identifier(k - 1); --k) {
        if (says(k - 1)) return true;
    }
    for (size_t k = i + 1; source.is_identifier(k); ++k) {
        if (says(k)) return true;
    }
    return false;
}

}  // namespace

void rewrite_device_variables(Source& source,
                              const Structure& structure,
                              bool relocatable) {
    const std::vector<bool> in_head = function_heads(source, structure);
    std::set<std::string_view> declared_extern;
    std::set<size_t> done;
    for (size_t i = 0; i < source.size(); ++i) {
        if (!is_memory_word(source, i) || in_head[i]) continue;
        if (source.in_system_header(i) || follows_captures(source, i)) continue;
        const ScopeKind kind = structure.scope_of(i).kind;
        if (kind == ScopeKind::type || kind == ScopeKind::initializer) continue;
        const Declaration d = read_declaration(source, i);
        if (d.semicolon == kNone || !done.insert(d.first).second) continue;
        if (has_word(source, d, "template")) continue;
        if (d.is_extern) {
            for (const Declarator& declarator : d.declarators) {
                declared_extern.insert(source.text(declarator.name));
            }
            continue;
        }
        const bool named = !d.declarators.empty() && d.declarators[0].name != kNone;
        if (!named || has_word(source, d, "static") || has_word(source, d, "inline"))
            continue;
        const bool shared =
            declared_extern.contains(source.text(d.declarators[0].name));
        if (!structure.in_function(i) && (relocatable || shared)) continue;
        source.insert_before(d.first, "static ");
    }
}

void mark_constant_variables(Source& source, const Structure& structure) {
    const std::vector<bool> in_head = function_heads(source, structure);
    std::set<size_t> done;
    for (size_t i = 0; i < source.size(); ++i) {
        if (!source.is(i, "__constant__") || in_head[i]) continue;
        if (source.in_system_header(i) || structure.in_function(i)) continue;
        const ScopeKind kind = structure.scope_of(i).kind;
        if (kind == ScopeKind::type || kind == ScopeKind::initializer) continue;
        const Declaration d = read_declaration(source, i);
        if (d.semicolon == kNone || d.is_extern || !done.insert(d.first).second)
            continue;
        const auto says = [&](std::string_view word) {
            return has_word(source, d, word);
        };
        if (says("template") || says("inline") || says("const") || says("constexpr"))
            continue;
        source.insert_before(d.first, "__attribute__((section(\"simt_constant\"))) ");
    }
}

void check_textures(Source& source) {
    for (size_t i = 1; i + 1 < source.size(); ++i) {
        if (!source.is(i, "texture") || !source.is(i + 1, "<")) continue;
        if (source.is_any(i - 1, {".", "->", "::"}) || source.in_system_header(i))
            continue;
        source.error(i,
                     "texture references were removed in CUDA 12: use a texture object "
                     "(cudaTextureObject_t), or read the array through a pointer");
    }
}

void check_attributes(Source& source) {
    for (size_t i = 0; i < source.size(); ++i) {
        const bool lacking =
            source.is_any(i,
                          {"__block_size__",
                           "__tile__",
                           "__tile_global__",
                           "__tile_builtin__",
                           "__nv_is_extended_device_lambda_closure_type",
                           "__nv_is_extended_device_lambda_with_preserved_return_type",
                           "__nv_is_extended_host_device_lambda_closure_type"});
        if (!lacking || source.in_system_header(i)) continue;
        source.error(i,
                     std::string(source.text(i)) +
                         " is not supported by the simulator; guard it with #ifndef "
                         "SIMT_CPU");
    }
}

void rewrite_words(Source& source) {
    for (size_t i = 0; i < source.size(); ++i) {
        const std::string_view t = source.text(i);
        if (!t.starts_with("__")) continue;
        if (t == "__global__" || t == "__device__" || t == "__host__" ||
            t == "__constant__" || t == "__managed__" || t == "__grid_constant__") {
            source.blank(i);
        } else if (t == "__launch_bounds__" || t == "__maxnreg__" ||
                   t == "__cluster_dims__") {
            if (source.match(i + 1) != kNone) source.blank(i, source.match(i + 1) + 1);
        } else if (t == "__noinline__") {
            // libstdc++ writes __attribute__((__noinline__)).
            if (i > 0 && !source.is_any(i - 1, {"(", ","})) {
                source.replace(i, "__attribute__((noinline))");
            }
        } else if (t == "__forceinline__") {
            // Recursion is legal in CUDA, but not for GCC's always_inline. In our own
            // headers there is none, and speed matters.
            const bool system = source.in_system_header(i);
            source.blank(i);
            if (!is_said_inline(source, i)) source.insert_before(i, "inline");
            if (system) source.insert_before(i, " __attribute__((always_inline))");
        }
    }
}

}  // namespace rewriter
