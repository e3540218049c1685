#include <wb/model/checkpoint.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace wb::model {
namespace {

struct TypeName {
    ElementType type;
    const char* name;
    int64_t size;
};

constexpr std::array<TypeName, 6> kTypes = {{{ElementType::f32, "F32", 4},
                                             {ElementType::bf16, "BF16", 2},
                                             {ElementType::f16, "F16", 2},
                                             {ElementType::i32, "I32", 4},
                                             {ElementType::i64, "I64", 8},
                                             {ElementType::u8, "U8", 1}}};

const TypeName& entry(ElementType type) {
    return kTypes.at(static_cast<std::size_t>(type));
}

/// Whether all bits of an exponent are set: NaN or infinity.
template <class Bits>
bool is_special(const std::byte* at, Bits exponent) {
    Bits bits;
    std::memcpy(&bits, at, sizeof(bits));
    return (bits & exponent) == exponent;
}

bool is_finite(ElementType type, const std::byte* at) {
    switch (type) {
        case ElementType::f32:
            return !is_special<uint32_t>(at, 0x7f800000u);
        case ElementType::bf16:
            return !is_special<uint16_t>(at, 0x7f80u);
        case ElementType::f16:
            return !is_special<uint16_t>(at, 0x7c00u);
        default:
            return true;
    }
}

}  // namespace

// Files are little endian; so is every machine that CUDA runs on.
static_assert(std::endian::native == std::endian::little);

int64_t size_of(ElementType type) {
    return entry(type).size;
}

const char* name_of(ElementType type) {
    return entry(type).name;
}

std::string describe(const std::vector<int64_t>& shape) {
    std::string text = "[";
    for (const int64_t size : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + "]";
}

int64_t Tensor::elements() const {
    int64_t count = 1;
    for (const int64_t size : shape)
        count *= size;
    return count;
}

const Tensor& Checkpoint::tensor(const std::string& name,
                                 ElementType type,
                                 const std::vector<int64_t>& shape) const {
    const auto found = tensors.find(name);
    if (found == tensors.end())
        throw CheckpointError("the checkpoint has no tensor " + name);
    const Tensor& it = found->second;
    if (it.type != type || it.shape != shape)
        throw CheckpointError("tensor " + name + " is " + name_of(it.type) + " " +
                              describe(it.shape) + ", but must be " + name_of(type) +
                              " " + describe(shape));
    return it;
}

void Checkpoint::require_finite() const {
    for (const auto& [name, tensor] : tensors) {
        const auto size = static_cast<std::size_t>(size_of(tensor.type));
        for (std::size_t at = 0; at < tensor.bytes.size(); at += size) {
            if (!is_finite(tensor.type, &tensor.bytes[at]))
                throw CheckpointError(
                    "tensor " + name + " has an element that is NaN " +
                    "or infinite: number " + std::to_string(at / size));
        }
    }
}

}  // namespace wb::model
