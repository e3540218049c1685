#include "contract.h"

#include <algorithm>
#include <stdexcept>

#include "structure.h"

namespace bundle {
namespace {

using rewriter::Function;
using rewriter::kNone;
using rewriter::Source;
using rewriter::Structure;

/// "const float* a" has the name "a"; "const int32_t*" has none.
std::string parameter_name(const Source& source, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
        if (source.is(i, "=")) last = i;
    }
    if (last - first < 2 || !source.is_identifier(last - 1)) return "";
    // `const int`, `unsigned long` and `std::size_t` end with a type.
    if (source.is_any(last - 1, {"int", "long", "char", "float", "double", "bool"}))
        return "";
    const bool after_type = source.is_any(last - 2, {"*", "&", ">"}) ||
                            (source.is_identifier(last - 2) &&
                             !source.is_any(last - 2, {"const", "struct"}));
    return after_type ? std::string(source.text(last - 1)) : "";
}

/// Splits the parameters of a declaration, without default arguments; each gets a name
/// if it had none.
void read_parameters(const Source& source, const Function& f, ContractFunction& out) {
    size_t first = f.params_open + 1;
    int angles = 0;
    for (size_t i = first; i <= f.params_close; ++i) {
        if (source.is(i, "<")) ++angles;
        if (source.is(i, ">")) --angles;
        const bool ends = i == f.params_close || (source.is(i, ",") && angles == 0);
        if (!ends || i == first) continue;
        size_t last = i;
        for (size_t k = first; k < last; ++k) {
            if (source.is(k, "=")) last = k;
        }
        std::string name = parameter_name(source, first, last);
        std::string text = source.squeeze(first, last);
        if (name.empty()) {
            name = "argument_" + std::to_string(out.arguments.size());
            text += ' ' + name;
        }
        out.parameters += (out.parameters.empty() ? "" : ", ") + text;
        out.arguments.push_back(name);
        first = i + 1;
    }
}

/// Name and types of the parameters, to tell overloads apart.
std::string signature(const Source& source, const Function& f) {
    std::string result(f.name);
    size_t first = f.params_open + 1;
    int angles = 0;
    for (size_t i = first; i <= f.params_close; ++i) {
        if (source.is(i, "<")) ++angles;
        if (source.is(i, ">")) --angles;
        if (i != f.params_close && !(source.is(i, ",") && angles == 0)) continue;
        size_t last = i;
        for (size_t k = first; k < last; ++k) {
            if (source.is(k, "=")) last = k;
        }
        if (!parameter_name(source, first, last).empty()) --last;
        for (size_t k = first; k < last; ++k) {
            // With `using wb::PagedCache` the prefix may be there or not.
            if (!source.is_any(k, {"wb", "::"}))
                result += ' ' + std::string(source.text(k));
        }
        result += ',';
        first = i + 1;
    }
    return result;
}

bool is_exported(const Source& source, const Function& f) {
    if (f.scope != 0 || f.is_template() || f.is_global || f.is_specialization)
        return false;
    for (size_t i = f.header; i < f.name_token; ++i) {
        if (source.is_any(i, {"static", "inline"})) return false;
    }
    return f.name_token == 0 || !source.is(f.name_token - 1, "::");
}

/// "double", without the words for the sides on which the function runs.
std::string result_type(const Source& source, const Function& f) {
    std::string text;
    for (size_t i = f.header; i < f.name_token; ++i) {
        if (source.is_any(i, {"__host__", "__device__", "__forceinline__"})) continue;
        text += source.squeeze(i, i + 1) + ' ';
    }
    text.pop_back();
    return text;
}

/// Adds function f, which a header declares, if this file defines it.
void add_if_defined(const Source& declared,
                    const Function& f,
                    const File& definer,
                    std::vector<ContractFunction>& contract) {
    const Source source(definer.code());
    const Structure structure(source);
    for (const Function& g : structure.functions()) {
        if (g.body_open == kNone || !is_exported(source, g)) continue;
        if (signature(declared, f) != signature(source, g)) continue;
        const auto is_same = [&](const ContractFunction& known) {
            return known.signature == signature(declared, f);
        };
        if (std::any_of(contract.begin(), contract.end(), is_same)) return;
        ContractFunction out;
        out.signature = signature(declared, f);
        out.name = std::string(f.name);
        out.declaration = declared.squeeze(f.header, f.params_close + 1) + ';';
        out.on_host = !f.is_device || f.is_host;
        // As in the header: a definition may leave out wb:: where it is "using" it.
        out.result = result_type(declared, f);
        read_parameters(declared, f, out);
        contract.push_back(out);
    }
}

}  // namespace

std::vector<ContractFunction> read_contract(const std::vector<File>& definers,
                                            const std::vector<File>& headers) {
    std::vector<ContractFunction> contract;
    for (const File& header : headers) {
        const Source declared(header.code());
        const Structure outline(declared);
        for (const Function& f : outline.functions()) {
            if (f.body_open != kNone || !is_exported(declared, f)) continue;
            for (const File& definer : definers)
                add_if_defined(declared, f, definer, contract);
        }
    }
    if (contract.empty()) {
        throw std::runtime_error(definers.front().path.string() +
                                 " defines no function that a header of its chapter "
                                 "declares");
    }
    return contract;
}

std::set<std::string> functions_defined_in(const File& file) {
    const Source source(file.code());
    const Structure structure(source);
    std::set<std::string> names;
    for (const Function& f : structure.functions()) {
        if (f.body_open != kNone && is_exported(source, f))
            names.insert(std::string(f.name));
    }
    return names;
}

std::set<std::string> names_in(const File& file, bool declarations) {
    const Source source(file.text());
    std::set<size_t> left_out;
    if (!declarations) {
        const Structure structure(source);
        for (const Function& f : structure.functions()) {
            if (f.body_open == kNone) left_out.insert(f.name_token);
        }
    }
    std::set<std::string> names;
    for (size_t i = 0; i < source.size(); ++i) {
        if (source.is_identifier(i) && !left_out.count(i))
            names.insert(std::string(source.text(i)));
    }
    return names;
}

}  // namespace bundle
