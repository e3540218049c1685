#include <wb/model/checkpoint.h>
#include <wb/testing/catch.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "support.h"

using wb::model::Checkpoint;
using wb::model::CheckpointError;
using wb::model::ElementType;
using wb::model::Tensor;
using wb::testing::contains;

namespace {

/// A file of this process alone (the cases run beside each other), gone at the end.
struct Scratch {
    std::string path =
        "model_checkpoint_test_" + std::to_string(getpid()) + ".safetensors";
    ~Scratch() { std::remove(path.c_str()); }

    std::string bytes() const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::string& bytes) const {
        std::ofstream(path, std::ios::binary) << bytes;
    }
};

template <class T>
Tensor tensor_of(ElementType type, std::vector<int64_t> shape, std::vector<T> values) {
    Tensor tensor = {type, std::move(shape), {}};
    tensor.bytes.resize(values.size() * sizeof(T));
    if (!values.empty())
        std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
}

/// A file with this header, and `data` bytes behind it.
std::string file_of(const std::string& header, std::size_t data) {
    const uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    return bytes + header + std::string(data, '\1');
}

Checkpoint example() {
    Checkpoint checkpoint;
    checkpoint.notes["step"] = "200";
    checkpoint.tensors["a.bias"] =
        tensor_of<uint16_t>(ElementType::bf16, {3}, {0x3f80, 0, 0xbf80});
    checkpoint.tensors["a.weight"] =
        tensor_of<float>(ElementType::f32, {2, 3}, {1, 2, 3, 4, 5, -6});
    checkpoint.tensors["empty"] = tensor_of<float>(ElementType::f32, {0, 7}, {});
    checkpoint.tensors["one"] =
        tensor_of<int64_t>(ElementType::i64, {}, {1234567890123});
    return checkpoint;
}

/// What a change of the example's file is answered with.
void refused(const std::string& bytes, const char* why) {
    const Scratch file;
    file.write(bytes);
    CAPTURE(why);
    CHECK_THROWS_AS(wb::model::read_checkpoint(file.path), CheckpointError);
    CHECK_THROWS_WITH(wb::model::read_checkpoint(file.path),
                      contains(file.path + ": ") && contains(why));
}

std::string entry(const char* name,
                  const char* type,
                  const char* shape,
                  const char* at) {
    return std::string("\"") + name + "\":{\"dtype\":\"" + type +
           "\",\"shape\":" + shape + ",\"data_offsets\":" + at + "}";
}

}  // namespace

TEST_CASE("a checkpoint is read as it was written") {
    const Scratch file;
    const Checkpoint written = example();
    wb::model::write_checkpoint(file.path, written);
    const Checkpoint read = wb::model::read_checkpoint(file.path);
    CHECK(read.notes == written.notes);
    REQUIRE(read.tensors.size() == written.tensors.size());
    for (const auto& [name, tensor] : written.tensors) {
        CAPTURE(name);
        const Tensor& again = read.tensor(name, tensor.type, tensor.shape);
        CHECK(again.bytes == tensor.bytes);
    }
    CHECK(read.tensors.at("one").elements() == 1);
    CHECK(read.tensors.at("empty").elements() == 0);
    wb::model::write_checkpoint(file.path + "2", written);
    const std::string first = file.bytes();
    std::rename((file.path + "2").c_str(), file.path.c_str());
    CHECK(file.bytes() == first);
}

TEST_CASE("the bytes of a file are those of the format") {
    const Scratch file;
    Checkpoint checkpoint;
    checkpoint.tensors["b"] =
        tensor_of<uint16_t>(ElementType::f16, {2}, {0x3c00, 0x4000});
    checkpoint.tensors["w"] = tensor_of<float>(ElementType::f32, {1, 1}, {1.0f});
    wb::model::write_checkpoint(file.path, checkpoint);
    std::string header = R"({"b":{"data_offsets":[4,8],"dtype":"F16","shape":[2]},)"
                         R"("w":{"data_offsets":[0,4],"dtype":"F32","shape":[1,1]}})";
    while (header.size() % 8 != 0)
        header += ' ';
    const std::string data("\0\0\x80\x3f\0\x3c\0\x40", 8);
    CHECK(file.bytes() == file_of(header, 0) + data);
}

TEST_CASE("a file that was cut anywhere is refused") {
    const Scratch file;
    wb::model::write_checkpoint(file.path, example());
    const std::string whole = file.bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        file.write(whole.substr(0, size));
        CAPTURE(size);
        REQUIRE_THROWS_AS(wb::model::read_checkpoint(file.path), CheckpointError);
    }
    file.write(whole + '\0');
    CHECK_THROWS_WITH(wb::model::read_checkpoint(file.path), contains("the file has"));
    CHECK_THROWS_WITH(wb::model::read_checkpoint("/nowhere/gpt"),
                      contains("/nowhere/gpt: cannot be opened: No such file"));
    CHECK_THROWS_WITH(wb::model::read_checkpoint("/"), contains("/: cannot be read"));
}

TEST_CASE("a header that says something else than the format allows is refused") {
    const auto all = [](const std::string& entries) { return "{" + entries + "}"; };
    refused(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + "{}",
            "its header has");
    refused(file_of("{", 0), "is not JSON");
    refused(file_of("[]", 0), "is not a JSON object");
    refused(file_of(R"({"w":3})", 0), "tensor w has no dtype");
    refused(file_of(all(entry("w", "F32", "[1]", "[0,4]") + "," +
                        entry("w", "F32", "[1]", "[0,4]")),
                    4),
            "the name w twice");
    refused(file_of(R"({"__metadata__":{"step":3}})", 0), "note step is no text");
    refused(file_of(all(entry("w", "F64", "[1]", "[0,8]")), 8), "the type \"F64\"");
    refused(file_of(all(entry("w", "F32", "[-1]", "[0,4]")), 4), "shape is not");
    refused(file_of(all(entry("w", "F32", "[1.0]", "[0,4]")), 4), "shape is not");
    refused(file_of(all(entry("w", "F32", "[\"1\"]", "[0,4]")), 4), "shape is not");
    refused(file_of(all(entry("w", "F32", "[2]", "[0,4]")), 4),
            "has 4 bytes, but F32 [2]");
    refused(file_of(all(entry("w", "F32", "[1]", "[4,0]")), 4),
            "a beginning and an end");
    refused(file_of(all(entry("w", "F32", "[1]", "[0]")), 4), "a beginning and an end");
    refused(file_of(all(entry("w", "F32", "[4611686018427387904,4]", "[0,0]")), 0),
            "needs more than 2^63");
    refused(file_of(all(entry("w", "F32", "[18446744073709551615]", "[0,4]")), 4),
            "shape is not");
    refused(file_of(all(entry("v", "F32", "[1]", "[0,4]") + "," +
                        entry("w", "F32", "[1]", "[0,4]")),
                    4),
            "begins at byte 0, but");
    refused(file_of(all(entry("w", "F32", "[1]", "[4,8]")), 8),
            "begins at byte 4, but");
    refused(file_of(all(entry("w", "F32", "[1]", "[0,4]")), 8),
            "the file has 8 for them");
}

TEST_CASE("another tensor than is wanted is refused, and so is NaN") {
    Checkpoint checkpoint = example();
    CHECK_THROWS_WITH(checkpoint.tensor("b", ElementType::f32, {1}),
                      contains("has no tensor b"));
    CHECK_THROWS_WITH(
        checkpoint.tensor("a.weight", ElementType::f32, {3, 2}),
        contains("tensor a.weight is F32 [2, 3], but must be F32 [3, 2]"));
    CHECK_THROWS_WITH(checkpoint.tensor("a.weight", ElementType::bf16, {2, 3}),
                      contains("but must be BF16 [2, 3]"));
    CHECK_NOTHROW(checkpoint.require_finite());
    const auto spoiled = [&](const char* name, Tensor tensor, const char* why) {
        Checkpoint with = checkpoint;
        with.tensors[name] = std::move(tensor);
        CHECK_THROWS_WITH(with.require_finite(), contains(name) && contains(why));
    };
    spoiled("x", tensor_of<float>(ElementType::f32, {3}, {1, 2, NAN}), "number 2");
    spoiled("x", tensor_of<float>(ElementType::f32, {2}, {-INFINITY, 2}), "number 0");
    spoiled(
        "x", tensor_of<uint16_t>(ElementType::bf16, {2}, {0x7f7f, 0x7fc0}), "number 1");
    spoiled(
        "x", tensor_of<uint16_t>(ElementType::f16, {2}, {0x7bff, 0xfc00}), "number 1");
}

TEST_CASE("what cannot be written leaves the file that was there") {
    const Scratch file;
    wb::model::write_checkpoint(file.path, example());
    const std::string before = file.bytes();
    Checkpoint wrong = example();
    wrong.tensors["a.bias"].shape = {4};
    CHECK_THROWS_WITH(wb::model::write_checkpoint(file.path, wrong),
                      contains("tensor a.bias has 6 bytes, but BF16 [4] needs 8"));
    Checkpoint named;
    named.tensors["__metadata__"] = tensor_of<float>(ElementType::f32, {1}, {1});
    CHECK_THROWS_WITH(wb::model::write_checkpoint(file.path, named),
                      contains("no tensor may be named __metadata__"));
    // A folder stands where the new file is to be.
    const std::string part = file.path + ".part";
    REQUIRE(mkdir(part.c_str(), 0755) == 0);
    CHECK_THROWS_WITH(wb::model::write_checkpoint(file.path, example()),
                      contains("cannot be written: Is a directory"));
    std::remove(part.c_str());
    CHECK(file.bytes() == before);
    CHECK_THROWS_WITH(wb::model::write_checkpoint("/nowhere/gpt", example()),
                      contains("cannot be written: No such file"));
}
