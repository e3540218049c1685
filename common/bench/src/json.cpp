#include <wb/bench/json.h>

#include <charconv>
#include <cmath>
#include <cstdio>

namespace wb::bench {
namespace {

constexpr int kLevelsWithLines = 2;

void write_string(std::string& out, const std::string& text) {
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else {
            out += c;
        }
    }
    out += '"';
}

void write_number(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

/// Writes "open a, b close"; `write_item` writes one element.
template <class Items, class WriteItem>
void write_list(std::string& out,
                const char* brackets,
                const Items& items,
                int depth,
                WriteItem write_item) {
    const bool lines = depth < kLevelsWithLines && !items.empty();
    const auto indent = [&](int levels) {
        if (lines) out += "\n" + std::string(2 * static_cast<std::size_t>(levels), ' ');
    };
    out += brackets[0];
    bool first = true;
    for (const auto& item : items) {
        if (!first) out += lines ? "," : ", ";
        first = false;
        indent(depth + 1);
        write_item(item);
    }
    indent(depth);
    out += brackets[1];
}

}  // namespace

// Here, where Member is complete, and not in the header, where it is not yet.
Json::Json() : value_(nullptr) {}
Json::Json(bool value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(int value) : value_(static_cast<double>(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(Array value) : value_(std::move(value)) {}
Json::Json(Object value) : value_(std::move(value)) {}

bool Json::operator==(const Json& other) const {
    return value_ == other.value_;
}

void Json::write(std::string& out, int depth) const {
    if (const bool* flag = std::get_if<bool>(&value_)) {
        out += *flag ? "true" : "false";
    } else if (const double* number = std::get_if<double>(&value_)) {
        write_number(out, *number);
    } else if (const std::string* string = std::get_if<std::string>(&value_)) {
        write_string(out, *string);
    } else if (const Array* array = std::get_if<Array>(&value_)) {
        write_list(out, "[]", *array, depth, [&](const Json& item) {
            item.write(out, depth + 1);
        });
    } else if (const Object* object = std::get_if<Object>(&value_)) {
        write_list(out, "{}", *object, depth, [&](const Member& member) {
            write_string(out, member.key);
            out += ": ";
            member.value.write(out, depth + 1);
        });
    } else {
        out += "null";
    }
}

std::string Json::dump() const {
    std::string out;
    write(out, 0);
    return out + "\n";
}

const Json* Json::find(const std::string& key) const {
    const Object* object = std::get_if<Object>(&value_);
    if (object == nullptr) return nullptr;
    for (const Member& member : *object) {
        if (member.key == key) return &member.value;
    }
    return nullptr;
}

std::string Json::text() const {
    const std::string* string = std::get_if<std::string>(&value_);
    return string == nullptr ? "" : *string;
}

double Json::number(double otherwise) const {
    const double* number = std::get_if<double>(&value_);
    return number == nullptr ? otherwise : *number;
}

Json::Array Json::items() const {
    const Array* array = std::get_if<Array>(&value_);
    return array == nullptr ? Array{} : *array;
}

Json::Object Json::members() const {
    const Object* object = std::get_if<Object>(&value_);
    return object == nullptr ? Object{} : *object;
}

}  // namespace wb::bench
