// wb_supervise PROGRAM [ARGUMENT…]: runs a test program and judges how it ended.
//
// The program links the learner's code; this one does not. What the tests found comes
// over a channel that the learner's code cannot reach by ending early, by printing or
// by writing files, and only this process writes the verdict: to the file WB_VERDICT,
// of which the program does not know. Its exit status is 0 only if the tests have ended
// and none has failed.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "ending.h"
#include "not_built.h"
#include "program.h"

namespace {

/// A reader never sees half a document: it is renamed into its place.
void write_file(const std::string& file, const std::string& text) {
    if (file.empty()) return;
    const std::string part = file + '.' + std::to_string(getpid());
    std::FILE* out = std::fopen(part.c_str(), "w");
    const bool written =
        out && std::fwrite(text.data(), 1, text.size(), out) == text.size();
    if ((out && std::fclose(out) != 0) || !written ||
        std::rename(part.c_str(), file.c_str()) != 0) {
        std::fprintf(stderr,
                     "cannot write WB_VERDICT=%s: %s\n",
                     file.c_str(),
                     std::strerror(errno));
        std::remove(part.c_str());
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: wb_supervise PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    const std::vector<std::string> command(argv + 1, argv + argc);
    const bool lists = argc > 2 && std::string(argv[2]).starts_with("--wb-list");
    const char* variable = std::getenv("WB_VERDICT");
    const std::string file = variable ? variable : "";
    try {
        if (const auto ending = wb::supervise::not_built(command)) {
            std::fputs((ending->words + ending->summary).c_str(), stdout);
            write_file(file, ending->document);
            return ending->status;
        }
        // Until its end is seen, no document says that it has ended.
        const auto on_document = [&](const std::string& document) {
            if (document.find("\n \"ended\": true") == document.npos)
                write_file(file, document);
        };
        const auto run = wb::supervise::run(command, lists, on_document);
        const auto ending = wb::supervise::judge(run, command.front(), lists);
        if (lists && ending.status == 0) std::fputs(run.names.c_str(), stdout);
        std::fputs(ending.words.c_str(), lists ? stderr : stdout);
        if (!file.empty()) std::fputs(ending.summary.c_str(), stdout);
        write_file(file, ending.document);
        return ending.status;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wb_supervise: %s\n", error.what());
        return 2;
    }
}
