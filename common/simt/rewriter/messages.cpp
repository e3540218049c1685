#include "messages.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "diagnostics.h"
#include "follow_ups.h"
#include "signatures.h"

namespace rewriter {
namespace {

// std::regex recurses: what is longer is told as it is.
constexpr size_t kLongest = 4000;

/// Tells the messages of one compilation.
class Teller {
 public:
    Teller(const Knowledge& knowledge, const std::vector<Message>& messages)
        : known_(knowledge) {
        for (const Message& m : messages)
            if (!speaks_of_arguments(m)) undeclared_.insert(undeclared_at(m));
    }

    void tell(const Message& m) {
        const bool odd = m.main.file.empty() || m.main.severity == "note";
        if (odd || m.main.text.size() > kLongest) return copy(m);
        if (m.main.severity == "fatal error" && missing_header(m)) return;
        if (missing_name(m) || missing_member(m) || follow_ups_.contain(m.main)) return;
        if (is_own(m.main.file) || serves_own(m)) return own_place(m);
        users_place(m);
    }
    std::string text;

 private:
    void line(const std::string& l) { text += l + '\n'; }
    void copy(const Message& m) {
        for (const std::string& l : m.lines)
            line(l);
    }
    bool is_own(const std::string& file) const {
        for (const std::string& folder : known_.own_folders)
            if (file.rfind(folder, 0) == 0) return true;
        return false;
    }
    /// Is it in the C++ library, where the simulator uses that?
    bool serves_own(const Message& m) const {
        if (m.main.file.rfind("/usr/", 0) != 0) return false;
        return std::any_of(m.context.begin(), m.context.end(), [&](const auto& l) {
            return l.find("required from") != std::string::npos && is_own(l);
        });
    }
    /// The refusal of what the simulator lacks: once for each line.
    void refuse(const Diagnostic& at, const std::string& what) {
        const std::string number = at.place.substr(0, at.place.find(':', 1));
        const std::string l = at.file + number + ": error: " + what;
        if (told_.insert(l).second) line(l);
    }

    bool missing_header(const Message& m) {
        static const std::regex form(
            "'?([^']+?)'?(: No such file or directory| file not found)");
        std::smatch match;
        if (!std::regex_match(m.main.text, match, form)) return false;
        const std::string header = match[1];
        for (const Library& library : known_.libraries) {
            if (fnmatch(library.pattern.c_str(), header.c_str(), 0) != 0) continue;
            refuse(m.main,
                   header + ": " + library.name +
                       " is not in the simulator; guard what needs it with #ifndef "
                       "SIMT_CPU");
            return true;
        }
        return false;
    }

    bool missing_name(const Message& m) {
        static const std::regex forms(
            ".*'(?:\\w+::)*([A-Za-z_]\\w*)' "
            "(was not declared in this scope|has not been declared|"
            "does not name a type|is not a member of|in namespace).*|"
            "there are no arguments to '([A-Za-z_]\\w*)' that depend on .*|"
            "(?:use of undeclared identifier|unknown type name|no member named|"
            "no template named|no type named) '([A-Za-z_]\\w*)'.*|"
            "expected .* before '([A-Za-z_]\\w*)'.*");
        std::smatch match;
        if (!std::regex_match(m.main.text, match, forms)) return false;
        std::string name;
        for (const int group : {1, 3, 4, 5})
            if (match[static_cast<size_t>(group)].matched)
                name = match[static_cast<size_t>(group)];
        // Of a group only what the compiler does not take for a slip.
        const auto begins = [&](const auto& group) { return name.starts_with(group); };
        const bool in_group =
            m.main.text.find("did you mean") == std::string::npos &&
            std::any_of(
                known_.missing_groups.begin(), known_.missing_groups.end(), begins);
        if (!in_group && !known_.missing_names.contains(name)) return false;
        refuse(m.main,
               name +
                   " is not supported by the simulator; guard it with #ifndef "
                   "SIMT_CPU");
        follow_ups_.refused(m.main, name);
        return true;
    }

    /// A name in a library's namespace or class: NVIDIA's may have it, or it is a slip.
    bool missing_member(const Message& m) {
        static const std::regex forms(
            "'(\\w+)' (?:is not a member of|in namespace) "
            "'((?:cub|thrust|cuda|nvcuda|cooperative_groups)(?:::\\w+)*)'"
            "(?: does not name a (?:template )?type)?"
            "(?:; did you mean '(.*)'\\?)?|"
            ".*'(?:class |struct |const )*((?:cub|thrust)::[^']*)'\\}? has no member "
            "named '(\\w+)'(?:; did you mean '(.*)'\\?)?|"
            "'((?:cub|thrust|cuda|nvcuda|cooperative_groups)(?:::\\w+)*)::(\\w+)' "
            "has not been declared");
        std::smatch match;
        if (is_own(m.main.file) || !std::regex_match(m.main.text, match, forms))
            return false;
        const bool of_class = match[4].matched, before = match[7].matched;
        const std::string owner = match[of_class ? 4 : before ? 7 : 2];
        const std::string name = match[of_class ? 5 : before ? 8 : 1];
        const std::string meant = match[of_class ? 6 : 3];
        refuse(m.main,
               public_types(owner) + "::" + name + " is not in the simulator; " +
                   (meant.empty() ? "" : "did you mean " + meant + "? Else ") +
                   "guard it with #ifndef SIMT_CPU");
        follow_ups_.refused(m.main, name);
        return true;
    }

    /// An error in a header of the simulator's belongs to the line that uses it.
    void own_place(const Message& m) {
        Diagnostic at;
        static const std::regex required("(\\S[^:]*)((?::[0-9]+){1,2}):  +.*");
        std::smatch match;
        for (const std::string& l : m.context) {
            if (is_own(l) || l.size() > kLongest) continue;
            if (!std::regex_match(l, match, required)) continue;
            if (match[1].str().rfind("/usr/", 0) == 0) continue;
            at.file = match[1], at.place = match[2];
            break;
        }
        for (const Diagnostic& note : m.notes) {
            if (!at.file.empty()) break;
            if (!is_own(note.file) && note.file.rfind("/usr/", 0) != 0)
                at.file = note.file, at.place = note.place;
        }
        if (at.file.empty()) return copy(m);
        std::string what = m.main.text;
        static const std::regex assertion(
            "static(_assert| assertion) failed(?: due to requirement '.*')?:? "
            "\"?(.*?)\"?");
        if (std::regex_match(what, match, assertion)) what = match[2];
        if (what == "too few arguments to function")
            what = "too few arguments for the kernel";
        line(at.file + at.place + ": " + m.main.severity + ": " + public_types(what));
    }

    void users_place(const Message& m) {
        const std::string words = in_cudas_words(m);
        std::vector<std::string> ours;  // CUDA's functions that the notes show
        bool changed = words != m.main.text ||
                       std::any_of(m.context.begin(), m.context.end(), [&](auto& l) {
                           return speaks_of_own(l);
                       });
        for (const Diagnostic& note : m.notes) {
            if (!is_own(note.file)) continue;
            changed = true;
            if (note.text.size() > kLongest) continue;
            static const std::regex quoted(
                "(?:candidate: |  *initializing argument [0-9]+ of |declared here.*)"
                "'(.*)'.*");
            std::smatch match;
            if (!std::regex_match(note.text, match, quoted)) continue;
            const std::string signature = public_signature(match[1]);
            if (signature.find("simt") != std::string::npos ||
                signature.find("steps::") != std::string::npos)
                continue;
            if (std::find(ours.begin(), ours.end(), signature) == ours.end())
                ours.push_back(signature);
        }
        if (!changed) return copy(m);
        if (const std::string at = undeclared_at(m); !at.empty()) {
            // Of a template, once as it stands there and once for each instance: that
            // of an instance may know a name that is meant.
            if (speaks_of_arguments(m) && undeclared_.contains(at)) return;
            if (!told_.insert(at).second) return;
        }
        for (const std::string& l : m.context)
            if (!speaks_of_own(l)) line(l);
        line(m.main.file + m.main.place + ": " + m.main.severity + ": " + words);
        for (const std::string& l : m.main.excerpt)
            line(l);
        for (const std::string& signature : ours)
            line("    CUDA has: " + signature);
        for (const Diagnostic& note : m.notes) {
            // "candidate expects 2 arguments" without its candidate says nothing.
            if (is_own(note.file) || note.text[0] == ' ') continue;
            if (note.text.starts_with("(if you use '-fpermissive'")) continue;
            line(note.file + note.place + ": note: " + note.text);
            for (const std::string& l : note.excerpt)
                line(l);
        }
    }

    bool speaks_of_own(const std::string& l) const {
        for (const std::string& folder : known_.own_folders)
            if (l.find(folder) != std::string::npos) return true;
        return l.find("simt::") != std::string::npos ||
               l.find("simt_") != std::string::npos;
    }

    static bool speaks_of_arguments(const Message& m) {
        return m.main.text.starts_with("there are no arguments to '");
    }
    /// Line and name, where a name is not known; else empty.
    static std::string undeclared_at(const Message& m) {
        static const std::regex form(
            "(?:there are no arguments to )?('\\w+')(?: that depend on a template "
            "parameter, so a declaration| was not declared in this scope).*");
        std::smatch match;
        if (m.main.text.size() > kLongest ||
            !std::regex_match(m.main.text, match, form))
            return "";
        const std::string number = m.main.place.substr(0, m.main.place.find(':', 1));
        return m.main.file + number + match[1].str();
    }

    /// The text as nvcc has it.
    std::string in_cudas_words(const Message& m) const {
        std::string text = m.main.text;
        if (text.ends_with(" [-fpermissive]")) text.erase(text.rfind(" ["));
        std::smatch match;
        // Of a name in a template, that no argument's type can bring.
        static const std::regex undeclared(
            "(?:there are no arguments to )?('\\w+')(?: that depend on a template "
            "parameter, so a declaration of '\\w+' must be available| was not declared "
            "in this scope, and no declarations were found by .*)");
        if (std::regex_match(text, match, undeclared))
            return match[1].str() + " was not declared in this scope";
        static const std::regex launch(
            "no match for call to '\\(simt::TypedLaunch<void \\(\\*\\)(\\(.*?\\)), "
            ".*>\\) "
            "(\\(.*\\))'");
        if (std::regex_match(text, match, launch))
            return "the kernel's parameters are " + public_types(match[1]) +
                   ", its arguments here " + public_types(match[2]);
        static const std::regex configuration(
            "no match for call to '\\(simt::TypedKernel<.*>\\) (\\(.*\\))'");
        if (std::regex_match(text, match, configuration))
            return "<<<...>>> takes (dim3 grid, dim3 block, size_t shared, "
                   "cudaStream_t), "
                   "not " +
                   public_types(match[1]);
        // Behind CUDA's parameters, those of the simulator have the caller's line.
        for (const char* site : {"const simt::SourceFile&", "const simt::SourceFile"})
            if (text.find(std::string("'") + site) != std::string::npos)
                return "too many arguments in function call";
        static const std::regex none(
            "no matching function for call to '(.*?)(\\(.*\\))'");
        if (std::regex_match(text, match, none) && has_own_candidate(m))
            return "no instance of function \"" + match[1].str() +
                   "\" matches the argument types " + public_types(match[2]);
        static const std::regex few("too (few|many) arguments to function '(.*)'");
        if (std::regex_match(text, match, few) && !m.notes.empty() &&
            is_own(m.notes[0].file))
            return "too " + match[1].str() + " arguments in function call; CUDA has: " +
                   public_signature(match[2]);
        const bool ours = std::any_of(m.notes.begin(), m.notes.end(), [&](auto& note) {
            return is_own(note.file);
        });
        return ours ? public_types(text) : text;
    }
    bool has_own_candidate(const Message& m) const {
        for (const Diagnostic& note : m.notes)
            if (is_own(note.file) && note.text.rfind("candidate", 0) == 0) return true;
        return false;
    }

    const Knowledge& known_;
    FollowUps follow_ups_;
    std::set<std::string> told_;
    std::set<std::string> undeclared_;  // where names are not known
};

std::ifstream open_list(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        std::fprintf(stderr, "simt_rewrite: cannot read %s\n", path.c_str());
        std::exit(1);
    }
    return file;
}

}  // namespace

Knowledge read_knowledge(const std::string& data_folder) {
    Knowledge result;
    std::ifstream names = open_list(data_folder + "/missing_names.txt");
    std::ifstream headers = open_list(data_folder + "/missing_headers.txt");
    for (std::string line; std::getline(names, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            if (word.ends_with("*"))
                result.missing_groups.push_back(word.substr(0, word.size() - 1));
            else
                result.missing_names.insert(word);
        }
    }
    for (std::string line; std::getline(headers, line);) {
        if (line.empty() || line[0] == '#') continue;
        const size_t colon = line.find(": ");
        std::istringstream patterns(line.substr(0, colon));
        for (std::string pattern; patterns >> pattern;)
            result.libraries.push_back({pattern, line.substr(colon + 2)});
    }
    return result;
}

std::string retell(const std::string& messages, const Knowledge& knowledge) {
    const std::vector<Message> parsed = parse_messages(messages);
    Teller teller(knowledge, parsed);
    for (const Message& message : parsed)
        teller.tell(message);
    return teller.text;
}

}  // namespace rewriter
