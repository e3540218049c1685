// Finds the scopes and functions of a translation unit in one pass over its braces.
#include "structure.h"

namespace rewriter {
namespace {

/// Words whose parentheses are part of an attribute or specifier, not parameters.
bool takes_parentheses(const Source& s, size_t i) {
    return s.is_any(i,
                    {"__attribute__",
                     "__attribute",
                     "alignas",
                     "_Alignas",
                     "decltype",
                     "__decltype",
                     "typeof",
                     "__typeof__",
                     "noexcept",
                     "explicit",
                     "requires",
                     "throw",
                     "__declspec",
                     "__asm__",
                     "asm",
                     "__launch_bounds__",
                     "__cluster_dims__",
                     "__align__",
                     "__block_size__",
                     "__maxnreg__"});
}

}  // namespace

Structure::Structure(const Source& source) : source_(source) {
    scopes_.push_back({ScopeKind::name_space, 0, source.size(), -1, 0, -1});
    scope_of_token_.resize(source.size());
    std::vector<size_t> saved;  // statement starts of the open scopes
    int current = 0;
    size_t start = 0;
    for (size_t i = 0; i < source.size(); ++i) {
        scope_of_token_[i] = current;
        const std::string_view t = source.text(i);
        if (t.size() != 1) continue;
        const ScopeKind kind = scopes_[current].kind;
        const bool declarative =
            kind == ScopeKind::name_space || kind == ScopeKind::type;
        if (t == "{") {
            if (source.match(i) == kNone) continue;
            Header header;
            const ScopeKind inner = classify(i, start, current, header);
            Scope scope{inner, i, source.match(i), current, start, -1};
            scope.function = scopes_[current].function;
            if (inner == ScopeKind::function) {
                add_function(header.function, i, current);
                scope.function = static_cast<int>(functions_.size()) - 1;
            }
            scopes_.push_back(scope);
            saved.push_back(start);
            current = static_cast<int>(scopes_.size()) - 1;
            scope_of_token_[i] = current;
            start = i + 1;
        } else if (t == "}") {
            if (current == 0 || source.match(i) != scopes_[current].open) continue;
            const bool continues = kind == ScopeKind::type ||
                                   kind == ScopeKind::enumeration ||
                                   kind == ScopeKind::initializer;
            current = scopes_[current].parent;
            start = continues ? saved.back() : i + 1;
            saved.pop_back();
        } else if (t == ";") {
            if (declarative && start < i && !source.in_system_header(i) &&
                !source.is_any(start,
                               {"using", "typedef", "friend", "static_assert"})) {
                Header header = read_header(start, i);
                if (header.has_function && !header.has_equal) {
                    add_function(header.function, kNone, current);
                }
            }
            start = i + 1;
        } else if (t == ":" && i == start + 1 &&
                   source.is_any(start, {"public", "private", "protected"})) {
            start = i + 1;
        }
    }
}

void Structure::add_function(Function function, size_t body_open, int scope) {
    function.body_open = body_open;
    function.body_close = source_.match(body_open);
    function.scope = scope;
    functions_.push_back(function);
}

Structure::Header Structure::read_header(size_t first, size_t last) const {
    Header header;
    size_t template_open = kNone;
    for (size_t i = first; i < last; ++i) {
        const std::string_view t = source_.text(i);
        if (t == "template" && source_.is(i + 1, "<")) {
            const size_t close = source_.match_angle(i + 1);
            if (close == kNone || close >= last) return header;
            template_open = i + 1;
            i = close;
        } else if (t == "[" || t == "{") {
            if (source_.match(i) == kNone) return header;
            i = source_.match(i);
        } else if (t == "(") {
            if (source_.match(i) == kNone) return header;
            if (!header.has_function && !header.has_equal &&
                read_function(first, i, header.function)) {
                header.has_function = true;
                header.function.template_open = template_open;
            }
            i = source_.match(i);
        } else if (t == "=" && !header.has_function) {
            header.has_equal |= !(i > first && source_.is(i - 1, "operator"));
        } else if (t == ":" && header.has_function) {
            if (header.member_initializers == kNone) header.member_initializers = i;
        } else if (t == "namespace" || (t == "extern" && source_.is_text(i + 1))) {
            header.is_namespace |= t == "namespace" || i + 2 == last;
        } else if (!header.has_function) {
            header.is_enum |= t == "enum";
            header.is_type |= t == "class" || t == "struct" || t == "union";
        }
    }
    if (header.has_function) read_words(last, header.function);
    return header;
}

bool Structure::read_function(size_t first, size_t paren, Function& function) const {
    if (paren == first) return false;
    size_t name = paren - 1;
    if (takes_parentheses(source_, name)) return false;
    if (source_.is_any(paren + 1, {"*", "&"})) return false;  // pointer to function
    function.header = first;
    function.params_open = paren;
    function.params_close = source_.match(paren);
    // Operators: the word stands up to a few tokens before, e.g. `operator float *`.
    for (size_t back = 1; back <= 6 && paren >= first + back; ++back) {
        if (source_.is(paren - back, ")") && back != 1) break;
        if (source_.is(paren - back, "operator")) {
            if (back == 1) return false;  // `operator()`: the parameters come next
            function.name = "operator";
            function.name_token = paren - back;
            return true;
        }
    }
    if (source_.is(name, ")") && name >= first + 2 &&
        source_.is(name - 2, "operator")) {
        function.name = "operator";
        function.name_token = name - 2;
        return true;
    }
    if (source_.is(name, ">")) {
        const size_t open = source_.match_angle_back(name);
        if (open == kNone || open <= first) return false;
        name = open - 1;
        function.is_specialization = true;
    }
    if (!source_.is_identifier(name)) return false;
    function.name = source_.text(name);
    function.name_token = name;
    return true;
}

void Structure::read_words(size_t last, Function& function) const {
    for (size_t i = function.header; i < last; ++i) {
        const std::string_view t = source_.text(i);
        if (t == "(") i = source_.match(i);
        if (t == "__global__") function.is_global = true;
        if (t == "__device__") function.is_device = true;
        if (t == "__host__") function.is_host = true;
        if (t == "constexpr" || t == "consteval") function.is_constexpr = true;
        // `template __global__ void k<int>(…);` instantiates, `template <>`
        // specialises.
        if (t == "template" && !source_.is(i + 1, "<"))
            function.is_specialization = true;
        if (t == "template" && source_.is(i + 2, ">"))
            function.is_specialization = true;
    }
}

ScopeKind Structure::classify(size_t brace,
                              size_t start,
                              int parent,
                              Header& header) const {
    const ScopeKind kind = scopes_[parent].kind;
    if (kind != ScopeKind::name_space && kind != ScopeKind::type) {
        return kind == ScopeKind::enumeration ? ScopeKind::initializer
                                              : classify_in_body(brace, start, parent);
    }
    header = read_header(start, brace);
    if (header.is_namespace && !header.has_function) return ScopeKind::name_space;
    if (header.has_function) {
        // `Constructor() : member{1} {`: only the last brace opens the body.
        const bool initializes =
            header.member_initializers != kNone &&
            (source_.is_identifier(brace - 1) || source_.is(brace - 1, ">"));
        return initializes ? ScopeKind::initializer : ScopeKind::function;
    }
    if (header.has_equal) {
        return is_lambda_body(brace, start) ? ScopeKind::block : ScopeKind::initializer;
    }
    if (header.is_enum) return ScopeKind::enumeration;
    return header.is_type ? ScopeKind::type : ScopeKind::initializer;
}

bool Structure::is_lambda_body(size_t brace, size_t start) const {
    // Back from the brace over `mutable`, `__device__`, `-> T` and the parameters.
    size_t i = brace;
    while (i > start) {
        --i;
        if (source_.is(i, "]")) {
            const size_t open = source_.match(i);
            if (open == kNone || open == 0) return false;
            return !source_.is_identifier(open - 1) || source_.is(open - 1, "return");
        }
        if (source_.is(i, ")")) {
            if (source_.match(i) == kNone) return false;
            i = source_.match(i);
        } else if (source_.is(i, ">")) {
            const size_t open = source_.match_angle_back(i);
            if (open == kNone) return false;
            i = open;
        } else if (!source_.is_identifier(i) &&
                   !source_.is_any(i, {"->", "::", "*", "&"})) {
            return false;
        }
    }
    return false;
}

ScopeKind Structure::classify_in_body(size_t brace, size_t start, int parent) const {
    const size_t before = brace - 1;
    if (is_lambda_body(brace, start)) return ScopeKind::block;
    if (source_.is(before, ")")) {
        const size_t open = source_.match(before);
        return open != kNone && open > 0 && source_.is(open - 1, "switch")
                   ? ScopeKind::switch_block
                   : ScopeKind::block;
    }
    if (scopes_[parent].kind == ScopeKind::initializer) return ScopeKind::initializer;
    if (source_.is_any(before, {"else", "do", "try", ";", "{", "}", ":"})) {
        return ScopeKind::block;
    }
    const Header header = read_header(start, brace);
    if (!header.has_equal && !header.has_function) {
        if (header.is_enum) return ScopeKind::enumeration;
        if (header.is_type) return ScopeKind::type;
    }
    return ScopeKind::initializer;
}

}  // namespace rewriter
