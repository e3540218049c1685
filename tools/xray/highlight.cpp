#include "html.h"

#include <cctype>
#include <set>

namespace xray {
namespace {

const std::set<std::string> kKeywords = {
    "alignas",       "auto",        "bool",
    "break",         "case",        "char",
    "class",         "const",       "constexpr",
    "continue",      "default",     "do",
    "double",        "else",        "extern",
    "false",         "float",       "for",
    "goto",          "if",          "inline",
    "int",           "int32_t",     "int64_t",
    "uint32_t",      "uint64_t",    "long",
    "namespace",     "nullptr",     "operator",
    "private",       "public",      "reinterpret_cast",
    "return",        "short",       "signed",
    "size_t",        "sizeof",      "static",
    "static_assert", "static_cast", "struct",
    "switch",        "template",    "this",
    "true",          "typedef",     "typename",
    "union",         "unsigned",    "using",
    "void",          "volatile",    "while",
    "float2",        "float4",      "half",
    "half2",         "int2",        "int4",
    "dim3"};

const std::set<std::string> kCudaWords = {
    "__global__",      "__device__",     "__host__",          "__shared__",
    "__constant__",    "__restrict__",   "__launch_bounds__", "__syncthreads",
    "__syncwarp",      "threadIdx",      "blockIdx",          "blockDim",
    "gridDim",         "warpSize",       "__shfl_sync",       "__shfl_down_sync",
    "__shfl_xor_sync", "__shfl_up_sync", "atomicAdd",         "__ldg"};

bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string span(const char* kind, const std::string& text) {
    return std::string("<span class=\"") + kind + "\">" + escaped(text) + "</span>";
}

}  // namespace

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

std::string highlighted(const std::string& line, bool& in_comment) {
    std::string result;
    for (std::size_t i = 0; i < line.size();) {
        std::size_t end = i + 1;
        const char c = line[i];
        if (in_comment || line.compare(i, 2, "/*") == 0) {
            const std::size_t close = line.find("*/", in_comment ? i : i + 2);
            in_comment = close == std::string::npos;
            end = in_comment ? line.size() : close + 2;
            result += span("c", line.substr(i, end - i));
        } else if (line.compare(i, 2, "//") == 0) {
            end = line.size();
            result += span("c", line.substr(i));
        } else if (c == '"' || c == '\'') {
            while (end < line.size() && line[end] != c)
                end += line[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, line.size());
            result += span("s", line.substr(i, end - i));
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            while (end < line.size() &&
                   (is_name(line[end]) || line[end] == '.' || line[end] == '\''))
                ++end;
            result += span("n", line.substr(i, end - i));
        } else if (is_name(c)) {
            while (end < line.size() && is_name(line[end]))
                ++end;
            const std::string word = line.substr(i, end - i);
            if (kKeywords.count(word)) {
                result += span("k", word);
            } else if (kCudaWords.count(word)) {
                result += span("g", word);
            } else {
                result += escaped(word);
            }
        } else {
            result += escaped(line.substr(i, 1));
        }
        i = end;
    }
    return result;
}

}  // namespace xray
