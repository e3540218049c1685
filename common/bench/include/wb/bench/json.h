/// wb/bench/json.h: measurements as JSON, {"machine", "ceilings", "rows"}.
///
/// Json is declared here only: what makes or reads one includes <nlohmann/json.hpp>,
/// which takes seconds to compile.
#pragma once

#include <wb/bench/report.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace wb::bench {

/// Members stay in the order of insertion.
using Json = nlohmann::ordered_json;

/// A member of an object; null if there is none, or if this is no object.
const Json& member(const Json& object, const std::string& key);

/// The member, if it is a string; "" otherwise.
std::string text_of(const Json& object, const std::string& key);

/// JSON text. The first two levels of nesting get a line for each element, so that a
/// diff of two files shows the rows that changed. Numbers have as many digits as it
/// takes to read the same double back; NaN and infinity, which JSON does not have,
/// become null.
std::string dump(const Json& value);

/// Reads a file. Throws std::runtime_error that says where the mistake is.
Json read_json(const std::string& path);

/// Replaces a file in one step, so that a reader never sees half of it. Throws
/// std::runtime_error.
void write_json(const std::string& path, const Json& value);

/// The row as JSON. @param date  "2026-11-21"
Json row_json(const Row& row, const std::string& date);

/// The document {"machine", "ceilings", "rows"}, with today's date in each row.
Json document(const Machine& machine,
              const Readings& readings,
              const std::map<Ceiling, double>& ceilings,
              double floor_us,
              const std::vector<Row>& rows);

/// The new document with those rows, and those ceilings, of the old one that it does
/// not replace. Rows are the same if exercise, rung and size are.
///
/// Throws std::runtime_error if the old document is of another GPU: a file that mixes
/// GPUs compares what cannot be compared.
Json merged(const Json& old, const Json& fresh);

/// Merges a document into a file, which need not exist. Throws std::runtime_error.
void merge_into_file(const std::string& path, const Json& fresh);

}  // namespace wb::bench
