// bundle.h: puts implementations together.
#pragma once

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "contract.h"
#include "edit.h"
#include "text.h"

namespace bundle {

class Bundle {
 public:
    /// @param solution      the solution's main file
    /// @param headers       those of the chapter's folder
    /// @param sources       the implementations: .cu files, and .diff files, which are
    ///                      edits of one (edit.h)
    /// @param include_dirs  where "..." is looked for, after the folder of the file
    /// @param root          from which an edit may name the file that it edits
    Bundle(const File& solution,
           const std::vector<File>& headers,
           const std::vector<fs::path>& sources,
           std::vector<fs::path> include_dirs,
           fs::path root);

    void write(std::ostream& out) const;

    /// Writes a rule of make: what @p target was made of.
    void write_dependencies(std::ostream& out, const std::string& target) const;

 private:
    struct Implementation {
        std::string name;
        std::string text;
        std::set<std::string> macros;  // that its text defines
        bool is_right = false;         // one that others edit
        // The file that it edits, the edit, and the lines after it.
        fs::path edited = {};
        fs::path edit = {};
        std::vector<EditLine> lines = {};
    };
    /// Adds an implementation. It is known by the file's name without .cu or .diff.
    /// @param own  gets the files whose text is part of it
    void add(const fs::path& source, std::set<fs::path>& own);
    /// Reads and applies an edit. Returns the .cu file with which its text begins.
    fs::path read_edit(const fs::path& source, Implementation& implementation);
    /// Reads a file, and remembers that the bundle depends on it.
    File read(const fs::path& path);
    /// Does the text of this file belong to each implementation?
    bool is_own(const fs::path& path);
    /// Do both lie in the folder of the solution? What a part of an implementation
    /// includes of there is part of it, too.
    bool is_part_of_own(const fs::path& path, const fs::path& from) const;
    /// Does it to this one, which gives a function that the file defines another name?
    bool is_renamed(const fs::path& path, const Implementation& implementation);
    /// Is it, or does it include, what this implementation edits?
    bool is_edited(const fs::path& path, const Implementation& implementation);
    /// The lines of a file as this implementation has them.
    std::vector<EditLine> lines_of(const fs::path& path,
                                   const Implementation& implementation);
    /// Adds a file's text, and that of own files which it includes.
    void append(const fs::path& path,
                Implementation& implementation,
                std::set<fs::path>& seen);
    /// Makes an include one for all.
    void hoist(const Include& include, const fs::path& from);
    void hoist_library_includes(const fs::path& path, std::set<fs::path>& seen);

    void write_dispatch(std::ostream& out) const;

    std::vector<ContractFunction> contract_;
    std::vector<fs::path> include_dirs_;
    fs::path root_;
    fs::path solutions_;
    std::vector<Implementation> implementations_;
    std::vector<std::string> library_includes_;  // <...>, in order
    std::vector<fs::path> shared_headers_;       // "...", in order
    std::map<fs::path, bool> own_;
    std::set<fs::path> read_;
};

}  // namespace bundle
