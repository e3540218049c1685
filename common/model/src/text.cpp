#include <wb/arguments.h>
#include <wb/model/text.h>
#include <wb/philox.h>

#include "read_whole.h"

namespace wb::model {
namespace {

/// A whole number below `limit`, from 64 random bits: the upper half of their product.
int64_t below(int64_t limit, const Words4& random) {
    const uint64_t bits = (uint64_t{random.word[1]} << 32) | random.word[0];
    const auto product =
        static_cast<unsigned __int128>(bits) * static_cast<unsigned __int128>(limit);
    return static_cast<int64_t>(product >> 64);
}

}  // namespace

Text::Text(std::string bytes) : bytes_(std::move(bytes)) {
    if (bytes_.empty()) throw TextError("the text is empty");
}

Text Text::from_file(const std::string& path) {
    const auto fail = [&](const std::string& why) {
        throw TextError(path + ": " + why);
    };
    std::string bytes = read_whole(path, fail);
    if (bytes.empty()) fail("the text is empty");
    return Text(std::move(bytes));
}

int64_t Text::size(Part part) const {
    const auto all = static_cast<int64_t>(bytes_.size());
    return part == Part::validation ? all / 10 : all - all / 10;
}

int64_t Text::first(Part part) const {
    return part == Part::validation ? size(Part::training) : 0;
}

std::vector<int32_t> Text::pieces(
    Part part, uint64_t seed, int64_t step, int64_t count, int64_t length) const {
    const Arguments arguments("Text::pieces");
    arguments.size("step", step).size("count", count).positive("length", length);
    const int64_t places = size(part) - length;
    if (places <= 0)
        throw TextError("a piece needs " + std::to_string(length + 1) +
                        " bytes, but this part of the text has " +
                        std::to_string(size(part)));
    std::vector<int32_t> tokens;
    tokens.reserve(static_cast<std::size_t>(
        arguments.product("count * (length + 1)", {count, length + 1})));
    for (int64_t i = 0; i < count; ++i) {
        const auto word = [](int64_t number, int shift) {
            return static_cast<uint32_t>(static_cast<uint64_t>(number) >> shift);
        };
        const Words4 random =
            philox({{word(step, 0), word(step, 32), word(i, 0), word(i, 32)}}, seed);
        const int64_t begin = first(part) + below(places, random);
        for (int64_t k = begin; k <= begin + length; ++k)
            tokens.push_back(
                static_cast<unsigned char>(bytes_[static_cast<std::size_t>(k)]));
    }
    return tokens;
}

}  // namespace wb::model
