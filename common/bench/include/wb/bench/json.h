/// wb/bench/json.h: just enough JSON to merge new measurements into a file of old ones.
///
/// Standard JSON (RFC 8259), objects in the order of insertion. No number is lost: a
/// double is written with as many digits as it takes to read the same double back.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wb::bench {

/// One JSON value of any kind.
class Json {
 public:
    struct Member;
    using Array = std::vector<Json>;
    using Object = std::vector<Member>;

    Json();  ///< null
    Json(bool value);
    Json(double value);
    Json(int value);
    Json(const char* value);
    Json(std::string value);
    Json(Array value);
    Json(Object value);

    /// The member of an object; nullptr if there is none, or if this is no object.
    const Json* find(const std::string& key) const;

    /// The string; "" if this is none.
    std::string text() const;

    /// The number; `otherwise` if this is none.
    double number(double otherwise = 0.0) const;

    /// The elements; none if this is no array.
    Array items() const;

    /// The members; none if this is no object.
    Object members() const;

    /// JSON text. The first two levels of nesting get a line for each element, so that
    /// a diff of two files shows the rows that changed. NaN and infinity, which JSON
    /// does not have, become null.
    std::string dump() const;

    /// Reads JSON text. Throws std::runtime_error that names the line of the mistake.
    static Json parse(const std::string& text);

    bool operator==(const Json& other) const;

 private:
    void write(std::string& out, int depth) const;

    std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value_;
};

/// "key": value.
struct Json::Member {
    std::string key;
    Json value;

    bool operator==(const Member& other) const {
        return key == other.key && value == other.value;
    }
};

}  // namespace wb::bench
