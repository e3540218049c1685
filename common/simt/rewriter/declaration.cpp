// Finds type and names in declarations such as
//     static __shared__ __align__(16) typename T::Storage a[N], *b;
#include "declaration.h"

#include <algorithm>

namespace rewriter {

bool is_attribute(const Source& source, size_t i) {
    return source.is_any(i, {"alignas", "__attribute__", "__align__", "_Alignas"}) &&
           source.is(i + 1, "(");
}

bool is_storage_word(const Source& source, size_t i) {
    return source.is_any(i,
                         {"static",
                          "extern",
                          "inline",
                          "__inline__",
                          "__shared__",
                          "__device__",
                          "__constant__",
                          "__managed__",
                          "__host__"});
}

namespace {

/// First token of the statement that contains token i.
size_t statement_start(const Source& source, size_t i) {
    while (i > 0) {
        if (source.is_any(i - 1, {";", "{", "}", ":"})) return i;
        if (source.is(i - 1, ")")) {
            const size_t open = source.match(i - 1);
            // `if (x) __shared__ …` and `__align__(16) __shared__ …`
            if (open == kNone || open == 0) return i;
            if (!is_attribute(source, open - 1) && !source.is(open - 1, "decltype"))
                return i;
            i = open - 1;
        } else if (source.is(i - 1, "]")) {
            const size_t open = source.match(i - 1);
            if (open == kNone) return i;
            i = open;
        } else if (source.is(i - 1, ">")) {
            const size_t open = source.match_angle_back(i - 1);
            if (open == kNone) return i;
            i = open;
        } else {
            --i;
        }
    }
    return i;
}

/// Token after the item (word, group or template argument list) at token i.
size_t skip_item(const Source& source, size_t i) {
    if (source.is_any(i, {"(", "[", "{"}) && source.match(i) != kNone) {
        return source.match(i) + 1;
    }
    if (source.is(i, "<") && i > 0 && source.is_identifier(i - 1)) {
        const size_t close = source.match_angle(i);
        if (close != kNone) return close + 1;
    }
    return i + 1;
}

/// The name in declarator tokens [first, last): the last word before an array bound or
/// initializer, or the one inside `(*name)`.
void find_name(const Source& source, Declarator& d) {
    for (size_t i = d.first; i < d.last; i = skip_item(source, i)) {
        if (is_attribute(source, i)) {
            ++i;
        } else if (source.is(i, "(") && d.name == kNone &&
                   source.is_any(i + 1, {"*", "&"})) {
            for (size_t k = i; k < source.match(i); ++k) {
                if (source.is_identifier(k)) d.name = k;
            }
        } else if (source.is_any(i, {"=", "{"}) ||
                   (source.is(i, "(") && d.name != kNone && !source.is(i - 1, ")"))) {
            d.initializer = i;
            return;
        } else if (source.is_identifier(i) && d.name == kNone) {
            d.name = i;
        }
    }
}

/// One past the type at the start of [first, last): all but the declarator's own
/// tokens.
size_t find_type_end(const Source& source, size_t first, size_t last) {
    size_t name = last;
    size_t pointer = kNone;
    bool in_type = true;
    for (size_t i = first; i < last && in_type; i = skip_item(source, i)) {
        if (is_attribute(source, i) || source.is_any(i, {"decltype", "__typeof__"})) {
            ++i;
        } else if (source.is(i, "{") && i > first &&
                   (source.is_any(i - 1, {"struct", "union", "enum", "class"}) ||
                    (i > first + 1 &&
                     source.is_any(i - 2, {"struct", "union", "enum", "class"})))) {
            name = last;  // the definition of the type; the name follows
        } else if (source.is_any(i, {"[", "=", "{"})) {
            in_type = false;
        } else if (source.is(i, "(")) {
            if (name == last || source.is_any(i + 1, {"*", "&"})) return i;
            in_type = false;
        } else if (source.is_any(i, {"*", "&"})) {
            if (pointer == kNone) pointer = i;
        } else if (source.is_identifier(i)) {
            name = i;
        }
    }
    return pointer != kNone && pointer < name ? pointer : name;
}

}  // namespace

Declaration read_declaration(const Source& source, size_t i) {
    Declaration result{statement_start(source, i), kNone, 0, false, false, {}};
    std::vector<size_t> ends;
    size_t at = result.first;
    while (at < source.size() && !source.is(at, ";")) {
        if (source.is_any(at, {")", "]", "}"})) return result;
        if (source.is(at, ",")) ends.push_back(at);
        if (source.is(at, "extern")) result.is_extern = true;
        at = skip_item(source, at);
    }
    if (at >= source.size()) return result;
    result.semicolon = at;
    ends.push_back(at);
    result.type_last = find_type_end(source, result.first, ends[0]);
    for (size_t k = result.first; k < result.type_last; ++k) {
        result.defines_type |= source.is(k, "{");
    }
    size_t first = result.type_last;
    for (size_t end : ends) {
        Declarator declarator{first, end, kNone, kNone};
        find_name(source, declarator);
        result.declarators.push_back(declarator);
        first = end + 1;
    }
    return result;
}

std::string type_text(const Source& source, const Declaration& declaration) {
    std::string text;
    for (size_t i = declaration.first; i < declaration.type_last; ++i) {
        if (is_storage_word(source, i)) continue;
        if (is_attribute(source, i)) {
            i = source.match(i + 1);
            continue;
        }
        if (!text.empty()) text += ' ';
        text += source.text(i);
    }
    return text;
}

}  // namespace rewriter
