#include "bundle.h"

#include <algorithm>
#include <ostream>
#include <stdexcept>

namespace bundle {
namespace {

template <class T>
void add_once(std::vector<T>& list, const T& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

std::string line_directive(size_t line, const fs::path& path) {
    return "#line " + std::to_string(line) + " \"" + path.string() + "\"\n";
}

std::set<std::string> names_of(const std::vector<ContractFunction>& contract) {
    std::set<std::string> names;
    for (const ContractFunction& f : contract)
        names.insert(f.name);
    return names;
}

}  // namespace

Bundle::Bundle(const File& solution,
               const std::vector<File>& headers,
               const std::vector<fs::path>& sources,
               std::vector<fs::path> include_dirs)
    : contract_(read_contract({solution}, headers)),
      include_dirs_(std::move(include_dirs)) {
    // What is part of an implementation defines functions, too; and who names those is
    // part of it, in turn.
    for (size_t known = 0; known != contract_.size();) {
        known = contract_.size();
        std::vector<File> definers = {solution};
        own_.clear();
        implementations_.clear();
        library_includes_.clear();
        shared_headers_.clear();
        std::set<fs::path> own;
        for (const fs::path& source : sources)
            add(source, own);
        for (const fs::path& path : own)
            definers.push_back(read(path));
        contract_ = read_contract(definers, headers);
    }
}

File Bundle::read(const fs::path& path) {
    read_.insert(path);
    return read_file(path);
}

bool Bundle::is_own(const fs::path& path) {
    if (path.extension() == ".cu") return true;
    if (const auto known = own_.find(path); known != own_.end()) return known->second;
    own_[path] = false;  // while it is looked at: headers may include each other
    const File file = read(path);
    // A header that only declares the contract is everybody's.
    const auto names = names_in(file, false);
    bool own = false;
    for (const std::string& name : names_of(contract_))
        own |= names.count(name) > 0;
    Include include;
    for (const std::string& line : file.lines) {
        if (!is_include(line, include) || !include.quoted) continue;
        const fs::path found = find_quoted(include.name, path, include_dirs_);
        own |= !found.empty() && is_own(found);
    }
    return own_[path] = own;
}

bool Bundle::is_renamed(const fs::path& path, const Implementation& implementation) {
    for (const std::string& name : functions_defined_in(read(path))) {
        if (implementation.macros.count(name)) return true;
    }
    return false;
}

void Bundle::hoist_library_includes(const fs::path& path, std::set<fs::path>& seen) {
    if (!seen.insert(path).second) return;
    Include include;
    for (const std::string& line : read(path).lines) {
        if (!is_include(line, include)) continue;
        if (!include.quoted) {
            add_once(library_includes_, include.spelling);
        } else if (const auto found = find_quoted(include.name, path, include_dirs_);
                   !found.empty()) {
            hoist_library_includes(found, seen);
        }
    }
}

void Bundle::hoist(const Include& include, const fs::path& from) {
    if (!include.quoted) return add_once(library_includes_, include.spelling);
    const fs::path path = find_quoted(include.name, from, include_dirs_);
    if (path.empty()) {
        throw std::runtime_error(from.string() + " includes " + include.spelling +
                                 ", which is nowhere");
    }
    std::set<fs::path> seen;
    hoist_library_includes(path, seen);
    add_once(shared_headers_, path);
}

void Bundle::append(const fs::path& path,
                    Implementation& implementation,
                    std::set<fs::path>& seen) {
    if (!seen.insert(path).second) return;
    const File file = read(path);
    implementation.text += line_directive(1, file.path);
    for (size_t i = 0; i < file.lines.size(); ++i) {
        Include include;
        const std::string& line = file.lines[i];
        if (is_include(line, include)) {
            const fs::path found = include.quoted
                                       ? find_quoted(include.name, path, include_dirs_)
                                       : fs::path();
            if (!found.empty() &&
                (is_own(found) || is_renamed(found, implementation))) {
                append(found, implementation, seen);
                implementation.text += line_directive(i + 2, file.path);
                continue;
            }
            hoist(include, path);
            implementation.text += '\n';
        } else {
            if (const std::string name = defined_name(line); !name.empty())
                implementation.macros.insert(name);
            implementation.text += is_pragma_once(line) ? "\n" : line + '\n';
        }
    }
}

void Bundle::add(const fs::path& source, std::set<fs::path>& own) {
    Implementation implementation{source.stem().string(), "", {}};
    for (const Implementation& other : implementations_) {
        if (other.name == implementation.name)
            throw std::runtime_error("two implementations are called " + other.name);
    }
    std::set<fs::path> seen;
    append(source.lexically_normal(), implementation, seen);
    seen.erase(source.lexically_normal());
    own.insert(seen.begin(), seen.end());
    implementations_.push_back(std::move(implementation));
}

void Bundle::write(std::ostream& out) const {
    // The tests run an implementation, not the versions of a solution that it includes.
    const std::string no_rungs =
        "#undef WB_RUNG\n"
        "#define WB_RUNG(exercise, launcher, idea) \\\n"
        "    [[maybe_unused]] static const auto wb_no_rung_##launcher = &launcher\n";
    out << "// Made by wb_bundle: see tools/bundle/main.cpp.\n";
    for (const std::string& include : library_includes_)
        out << "#include " << include << '\n';
    out << "#include <wb/ladder.h>\n#include <cstdlib>\n#include <cstring>\n"
           "#include <stdexcept>\n#include <string>\n\n";
    // Declared under other names: an implementation that calls a function of its own
    // means just that one.
    const auto names = names_of(contract_);
    for (const std::string& name : names)
        out << "#define " << name << " wb_declared_" << name << '\n';
    for (const fs::path& header : shared_headers_)
        out << "#include \"" << header.string() << "\"\n";
    for (const std::string& name : names)
        out << "#undef " << name << '\n';
    out << no_rungs;
    for (const Implementation& implementation : implementations_) {
        out << "\nnamespace wrong_" << implementation.name << " {\n";
        for (const ContractFunction& f : contract_)
            out << f.declaration << '\n';
        out << implementation.text << "}\n";
        for (const std::string& macro : implementation.macros)
            out << "#undef " << macro << '\n';
        if (implementation.macros.count("WB_RUNG")) out << no_rungs;
    }
    write_dispatch(out);
}

void Bundle::write_dependencies(std::ostream& out, const std::string& target) const {
    out << target << ':';
    for (const fs::path& path : read_)
        out << " \\\n  " << path.string();
    out << '\n';
}

void Bundle::write_dispatch(std::ostream& out) const {
    out << "\n#line 1 \"dispatch\"\nnamespace wb_bundle {\nstruct Contract {\n"
           "    const char* name;\n";
    for (size_t i = 0; i < contract_.size(); ++i) {
        const ContractFunction& f = contract_[i];
        if (f.on_host)
            out << "    " << f.result << " (*f" << i << ")(" << f.parameters << ");\n";
    }
    out << "};\nstatic const Contract kAll[] = {\n";
    for (const Implementation& implementation : implementations_) {
        out << "    {\"" << implementation.name << '"';
        for (const ContractFunction& f : contract_) {
            if (f.on_host) out << ", &wrong_" << implementation.name << "::" << f.name;
        }
        out << "},\n";
    }
    out << "};\n"
           "static const Contract& chosen() {\n"
           "    static const char* const name = std::getenv(\"WB_WRONG_KERNEL\");\n"
           "    for (const Contract& contract : kAll) {\n"
           "        if (name && std::strcmp(contract.name, name) == 0) return "
           "contract;\n"
           "    }\n"
           "    throw std::logic_error(std::string(\"WB_WRONG_KERNEL names no "
           "known-wrong \"\n"
           "        \"kernel of this chapter: \") + (name ? name : \"it is not "
           "set\"));\n"
           "}\n}  // namespace wb_bundle\n\n";
    for (size_t i = 0; i < contract_.size(); ++i) {
        const ContractFunction& f = contract_[i];
        if (!f.on_host) continue;
        out << f.result << ' ' << f.name << '(' << f.parameters << ") {\n"
            << "    return wb_bundle::chosen().f" << i << '(';
        for (size_t k = 0; k < f.arguments.size(); ++k)
            out << (k ? ", " : "") << f.arguments[k];
        out << ");\n}\n";
    }
}

}  // namespace bundle
