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
               std::vector<fs::path> include_dirs,
               fs::path root)
    : contract_(read_contract({solution}, headers)),
      include_dirs_(std::move(include_dirs)),
      root_(std::move(root)),
      solutions_(solution.path.parent_path().lexically_normal()) {
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

bool Bundle::is_part_of_own(const fs::path& path, const fs::path& from) const {
    return path.parent_path() == solutions_ && from.parent_path() == solutions_;
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

bool Bundle::is_edited(const fs::path& path, const Implementation& implementation) {
    if (implementation.edited.empty()) return false;
    std::vector<fs::path> files = {path};
    for (size_t i = 0; i < files.size(); ++i) {
        const fs::path file = files[i];
        if (file == implementation.edited) return true;
        Include include;
        for (const std::string& line : read(file).lines) {
            if (!is_include(line, include) || !include.quoted) continue;
            const fs::path found = find_quoted(include.name, file, include_dirs_);
            if (!found.empty()) add_once(files, found);
        }
    }
    return false;
}

std::vector<EditLine> Bundle::lines_of(const fs::path& path,
                                       const Implementation& implementation) {
    if (path == implementation.edited) return implementation.lines;
    std::vector<EditLine> lines;
    for (const std::string& line : read(path).lines)
        lines.push_back({' ', line, lines.size() + 1});
    return lines;
}

void Bundle::append(const fs::path& path,
                    Implementation& implementation,
                    std::set<fs::path>& seen) {
    if (!seen.insert(path).second) return;
    std::string& text = implementation.text;
    char kind = 0;
    size_t next = 0;    // the number that the compiler takes the line for
    bool whole = true;  // it does not go on with what a '\\' has left open
    bool below_code = false;
    for (const EditLine& line : lines_of(path, implementation)) {
        if (whole && (line.kind != kind || line.number != next)) {
            text += line_directive(line.number,
                                   line.kind == '+' ? implementation.edit : path);
            kind = line.kind;
            next = line.number;
        }
        ++next;
        whole = line.text.empty() || line.text.back() != '\\';
        Include include;
        if (is_include(line.text, include)) {
            const fs::path found = include.quoted
                                       ? find_quoted(include.name, path, include_dirs_)
                                       : fs::path();
            if (!found.empty() &&
                (below_code || is_own(found) || is_part_of_own(found, path) ||
                 is_renamed(found, implementation) ||
                 is_edited(found, implementation))) {
                append(found, implementation, seen);
                kind = 0;
                continue;
            }
            hoist(include, path);
            text += '\n';
        } else {
            if (const std::string name = defined_name(line.text); !name.empty())
                implementation.macros.insert(name);
            below_code |= is_code(line.text);
            text += is_pragma_once(line.text) ? "\n" : line.text + '\n';
        }
    }
}

fs::path Bundle::read_edit(const fs::path& source, Implementation& implementation) {
    const Edit edit = parse_edit(read(source));
    const auto fail = [&](const std::string& message) {
        throw std::runtime_error(edit.path.string() + ':' +
                                 std::to_string(edit.target_line) + ": " + message);
    };
    // The right texts stand beside the edits, or above them (orders/, sim/, goals/).
    const auto find = [&](const std::string& name) {
        const fs::path folder = source.parent_path();
        for (const fs::path& dir : {folder, folder.parent_path(), root_}) {
            if (fs::is_regular_file(dir / name)) return (dir / name).lexically_normal();
        }
        fail("there is no file " + name);
        return fs::path();
    };
    const fs::path edited = find(edit.target);
    implementation.edit = edit.path;
    implementation.edited = edited;
    implementation.lines = apply(edit, read(edited));
    const bool has_main = edit.main != Edit().main;
    if (edited.extension() == ".cu" && !has_main) return edited;
    const fs::path main = find(edit.main);
    if (!is_edited(main, implementation))
        fail(main.string() + " does not include " + edit.target);
    return main;
}

void Bundle::add(const fs::path& source, std::set<fs::path>& own) {
    Implementation implementation{source.stem().string(), "", {}};
    for (const Implementation& other : implementations_) {
        if (other.name == implementation.name)
            throw std::runtime_error("two implementations are called " + other.name);
    }
    fs::path main = source.lexically_normal();
    implementation.is_right =
        main.extension() == ".cu" && implementation.name.rfind("right", 0) == 0;
    if (main.extension() == ".diff") main = read_edit(main, implementation);
    std::set<fs::path> seen;
    append(main, implementation, seen);
    seen.erase(main);
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
    out << "#include <wb/ladder.h>\n#include <wb/wrong_kernel.h>\n"
           "#include <cstdlib>\n#include <cstring>\n\n";
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
        // A text that takes long to compile may leave out for its edits what the tests
        // that reject them do not ask for.
        const bool right = implementation.is_right;
        if (right) out << "#define WB_RIGHT_TEXT\n";
        out << "\nnamespace wrong_" << implementation.name << " {\n";
        for (const ContractFunction& f : contract_)
            out << f.declaration << '\n';
        out << implementation.text << "}\n";
        for (const std::string& macro : implementation.macros)
            out << "#undef " << macro << '\n';
        if (implementation.macros.count("WB_RUNG")) out << no_rungs;
        if (right) out << "#undef WB_RIGHT_TEXT\n";
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
           "    const char* const name = std::getenv(\"WB_WRONG_KERNEL\");\n"
           "    for (const Contract& contract : kAll) {\n"
           "        if (name && std::strcmp(contract.name, name) == 0) return "
           "contract;\n"
           "    }\n"
           "    wb::refuse_wrong_kernel(name);\n"
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
