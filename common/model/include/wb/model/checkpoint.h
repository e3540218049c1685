/// wb/model/checkpoint.h: tensors by name, in a file and in memory.
///
///     wb::model::Checkpoint weights = wb::model::read_checkpoint("gpt.safetensors");
///     const auto& w = weights.tensor("embed_in.weight", ElementType::f32, {256, 320});
///
/// The file has the format safetensors, which PyTorch's users read by
/// safetensors.torch.load_file(): 8 bytes with the length n of a header (little
/// endian), n bytes of JSON, then all elements, without a hole:
///
///     {"__metadata__": {"step": "200"},
///      "embed_in.weight": {"dtype": "F32", "shape": [256, 320],
///                          "data_offsets": [0, 327680]}, …}
///
/// Offsets count from the end of the header. Elements are little endian, and tensors
/// row-major.
///
/// Source: Hugging Face, safetensors, README, "Format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace wb::model {

/// A file that is no checkpoint, or not the one that is wanted, and why. Nothing has
/// been changed.
class CheckpointError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Types of elements. In the header: F32, BF16, F16, I32, I64, U8.
enum class ElementType { f32, bf16, f16, i32, i64, u8 };

/// Bytes of an element.
int64_t size_of(ElementType type);

/// As the header has it: "BF16".
const char* name_of(ElementType type);

/// "[256, 320]"; "[]" of a single number.
std::string describe(const std::vector<int64_t>& shape);

/// A tensor with its elements.
struct Tensor {
    ElementType type = ElementType::f32;
    std::vector<int64_t> shape;    ///< each >= 0; empty: a single number
    std::vector<std::byte> bytes;  ///< row-major, elements() * size_of(type) of them

    int64_t elements() const;
};

/// Tensors by name, and notes about them.
struct Checkpoint {
    std::map<std::string, std::string> notes;  ///< the header's __metadata__
    std::map<std::string, Tensor> tensors;

    /// The tensor of this name.
    /// Throws CheckpointError if there is none, or if it has another type or shape: the
    /// message says which one it has.
    const Tensor& tensor(const std::string& name,
                         ElementType type,
                         const std::vector<int64_t>& shape) const;

    /// Throws CheckpointError if a tensor has an element that is NaN or infinite: the
    /// message says which.
    void require_finite() const;
};

/// Reads a file.
///
/// Throws CheckpointError, whose message begins with the path, if it cannot be read, if
/// it is shorter or longer than its header says, and if its header is no JSON, has an
/// unknown type, a negative size, one name twice, elements that overlap or do not
/// follow each other, or another number of bytes than a shape needs.
Checkpoint read_checkpoint(const std::string& path);

/// Writes a file, whole or not at all: its bytes go to `path`.part first, which takes
/// the place of `path` when all of them are on the disk. If the program is stopped
/// before that, or there is no more space, the file that was there before still is.
///
/// Tensors with larger elements come first, then those with the lower name: so all are
/// aligned, and the same ones give the same bytes. The header is filled up with spaces
/// to a multiple of 8 bytes.
///
/// Throws CheckpointError if a tensor has not the bytes that its shape needs, for the
/// name "__metadata__", and where the system refuses.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

}  // namespace wb::model
