// The file of a checkpoint: its header is read with suspicion, and it is written whole
// or not at all.
#include <fcntl.h>
#include <unistd.h>

#include <wb/model/checkpoint.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "read_whole.h"

namespace wb::model {
namespace {

using nlohmann::json;

constexpr const char* kNotes = "__metadata__";
constexpr uint64_t kLongestHeader = 100'000'000;  // as the format's own reader has it

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw CheckpointError(path + ": " + why);
}

/// Where a tensor's bytes lie behind the header.
struct Place {
    int64_t begin;
    int64_t end;
    std::string name;
};

/// JSON without a name twice: parsers keep one of the two without a word.
json parse_header(const std::string& path, const std::string& text) {
    std::vector<std::set<std::string>> names;
    std::string twice;
    const auto look = [&](int, json::parse_event_t event, json& value) {
        if (event == json::parse_event_t::object_start) names.emplace_back();
        if (event == json::parse_event_t::object_end) names.pop_back();
        if (event == json::parse_event_t::key &&
            !names.back().insert(value.get<std::string>()).second)
            twice = value.get<std::string>();
        return true;
    };
    json header;
    try {
        header = json::parse(text, look);
    } catch (const json::exception&) {
        fail(path, "its header is not JSON");
    }
    if (!twice.empty()) fail(path, "its header has the name " + twice + " twice");
    if (!header.is_object()) fail(path, "its header is not a JSON object");
    return header;
}

std::vector<int64_t> whole_numbers(const std::string& path,
                                   const std::string& name,
                                   const json& entry,
                                   const char* key) {
    const json& list = entry.at(key);
    std::vector<int64_t> numbers;
    for (const json& number : list) {
        // A size past 2^63 - 1 is unsigned to the parser, and negative to us.
        if (!number.is_number_integer() || number.get<int64_t>() < 0)
            fail(path, "tensor " + name + ": " + key + " is not a list of sizes");
        numbers.push_back(number.get<int64_t>());
    }
    return numbers;
}

/// The bytes of a shape; -1 if there are more than 2^63 - 1.
int64_t bytes_of(const std::vector<int64_t>& shape, ElementType type) {
    int64_t bytes = size_of(type);
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
    for (const int64_t size : shape)
        if (__builtin_mul_overflow(bytes, size, &bytes)) return -1;
    return bytes;
}

ElementType type_named(const std::string& path,
                       const std::string& name,
                       const json& text) {
    for (const ElementType type : {ElementType::f32,
                                   ElementType::bf16,
                                   ElementType::f16,
                                   ElementType::i32,
                                   ElementType::i64,
                                   ElementType::u8})
        if (text == name_of(type)) return type;
    fail(path,
         "tensor " + name + " has the type " + text.dump() +
             ", which is none of F32, BF16, F16, I32, I64, U8");
}

/// Reads an entry of the header.
Place read_entry(const std::string& path,
                 const std::string& name,
                 const json& entry,
                 Tensor& tensor) {
    for (const char* const key : {"dtype", "shape", "data_offsets"})
        if (!entry.is_object() || !entry.contains(key))
            fail(path, "tensor " + name + " has no " + key);
    tensor.type = type_named(path, name, entry.at("dtype"));
    tensor.shape = whole_numbers(path, name, entry, "shape");
    const auto offsets = whole_numbers(path, name, entry, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1])
        fail(path, "tensor " + name + ": data_offsets are not a beginning and an end");
    const int64_t bytes = bytes_of(tensor.shape, tensor.type);
    if (bytes != offsets[1] - offsets[0])
        fail(path,
             "tensor " + name + " has " + std::to_string(offsets[1] - offsets[0]) +
                 " bytes, but " + name_of(tensor.type) + " " + describe(tensor.shape) +
                 " needs " + (bytes < 0 ? "more than 2^63" : std::to_string(bytes)));
    return {offsets[0], offsets[1], name};
}

/// Descriptor of a file, closed when it goes out of scope, and removed but for keep().
class NewFile {
 public:
    explicit NewFile(std::string path)
        : path_(std::move(path)),
          file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
        if (file_ < 0) refused("cannot be written");
    }
    ~NewFile() {
        if (file_ >= 0) close(file_);
        if (!path_.empty()) unlink(path_.c_str());
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write_all(const void* data, std::size_t bytes) {
        const auto* at = static_cast<const char*>(data);
        while (bytes > 0) {
            const ssize_t done = ::write(file_, at, bytes);
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) refused("cannot be written");
            at += done;
            bytes -= static_cast<std::size_t>(done);
        }
    }
    void take_place_of(const std::string& path) {
        if (fsync(file_) != 0) refused("cannot be written");
        if (std::rename(path_.c_str(), path.c_str()) != 0)
            refused(("cannot become " + path).c_str());
        path_.clear();
    }

 private:
    [[noreturn]] void refused(const char* what) {
        fail(path_, std::string(what) + ": " + std::strerror(errno));
    }

    std::string path_;
    int file_;
};

}  // namespace

Checkpoint read_checkpoint(const std::string& path) {
    const std::string file =
        read_whole(path, [&](const std::string& why) { fail(path, why); });
    uint64_t length = 0;
    if (file.size() < sizeof(length)) fail(path, "is too short for a checkpoint");
    std::memcpy(&length, file.data(), sizeof(length));
    if (length > kLongestHeader || length > file.size() - sizeof(length))
        fail(path,
             "its header has " + std::to_string(length) + " bytes, the file only " +
                 std::to_string(file.size()));
    const auto header_size = static_cast<std::size_t>(length);
    const json header = parse_header(path, file.substr(sizeof(length), header_size));
    const std::string_view data =
        std::string_view(file).substr(sizeof(length) + header_size);

    Checkpoint checkpoint;
    std::vector<Place> places;
    for (const auto& [name, entry] : header.items()) {
        if (name == kNotes) {
            for (const auto& [key, note] : entry.items()) {
                if (!note.is_string()) fail(path, "its note " + key + " is no text");
                checkpoint.notes[key] = note.get<std::string>();
            }
        } else {
            places.push_back(read_entry(path, name, entry, checkpoint.tensors[name]));
        }
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    int64_t next = 0;
    for (const Place& place : places) {
        if (place.begin != next)
            fail(path,
                 "tensor " + place.name + " begins at byte " +
                     std::to_string(place.begin) + ", but the one before it ends at " +
                     std::to_string(next));
        next = place.end;
    }
    if (static_cast<uint64_t>(next) != data.size())
        fail(path,
             "its tensors have " + std::to_string(next) + " bytes, the file has " +
                 std::to_string(data.size()) + " for them");
    for (const Place& place : places) {
        const auto size = static_cast<std::size_t>(place.end - place.begin);
        std::vector<std::byte>& bytes = checkpoint.tensors.at(place.name).bytes;
        bytes.resize(size);
        if (size > 0) std::memcpy(bytes.data(), data.data() + place.begin, size);
    }
    return checkpoint;
}

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
    std::vector<std::pair<std::string, const Tensor*>> ordered;
    for (const auto& [name, tensor] : checkpoint.tensors) {
        if (name == kNotes) fail(path, "no tensor may be named __metadata__");
        const int64_t needed = bytes_of(tensor.shape, tensor.type);
        if (static_cast<int64_t>(tensor.bytes.size()) != needed)
            fail(path,
                 "tensor " + name + " has " + std::to_string(tensor.bytes.size()) +
                     " bytes, but " + name_of(tensor.type) + " " +
                     describe(tensor.shape) + " needs " + std::to_string(needed));
        ordered.emplace_back(name, &tensor);
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
        return size_of(a.second->type) > size_of(b.second->type);
    });

    json header = json::object();
    if (!checkpoint.notes.empty()) header[kNotes] = checkpoint.notes;
    std::size_t next = 0;
    for (const auto& [name, tensor] : ordered) {
        header[name] = {{"dtype", name_of(tensor->type)},
                        {"shape", tensor->shape},
                        {"data_offsets", {next, next + tensor->bytes.size()}}};
        next += tensor->bytes.size();
    }
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    const uint64_t length = text.size();

    NewFile file(path + ".part");
    file.write_all(&length, sizeof(length));
    file.write_all(text.data(), text.size());
    for (const auto& [name, tensor] : ordered)
        file.write_all(tensor->bytes.data(), tensor->bytes.size());
    file.take_place_of(path);
}

}  // namespace wb::model
