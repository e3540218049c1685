#include <wb/arguments.h>
#include <wb/model/arena.h>

#include <algorithm>
#include <numeric>
#include <sstream>

namespace wb::model {
namespace {

constexpr int64_t kAlignment = 256;
constexpr int64_t kUnplaced = -1;

}  // namespace

int ArenaPlan::add(const std::string& name,
                   int64_t bytes,
                   int64_t first,
                   int64_t last) {
    Arguments((name + " in an arena").c_str())
        .size("bytes", bytes)
        .require(bytes <= INT64_MAX / 2, "bytes", bytes, "must be < 2^62")
        .size("first", first)
        .require(last >= first, "last", last, "must be at least first");
    const int64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    arrays_.push_back({name, whole, first, last, kUnplaced});
    return static_cast<int>(arrays_.size()) - 1;
}

void ArenaPlan::place() {
    std::vector<std::size_t> order(arrays_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return arrays_[a].bytes > arrays_[b].bytes;
    });
    bytes_ = 0;
    std::vector<const Array*> placed;  // by offset
    for (const std::size_t i : order) {
        Array& array = arrays_[i];
        array.offset = 0;
        for (const Array* const other : placed) {
            const bool meets = other->first <= array.last && array.first <= other->last;
            if (!meets || other->offset + other->bytes <= array.offset) continue;
            if (array.offset + array.bytes <= other->offset)
                break;  // the gap is enough
            array.offset = other->offset + other->bytes;
        }
        const auto behind = std::upper_bound(
            placed.begin(), placed.end(), &array, [](const Array* a, const Array* b) {
                return a->offset < b->offset;
            });
        placed.insert(behind, &array);
        bytes_ = std::max(bytes_, array.offset + array.bytes);
    }
}

int64_t ArenaPlan::offset(int array) const {
    const Arguments arguments("ArenaPlan::offset");
    arguments.require(array >= 0 && array < static_cast<int>(arrays_.size()),
                      "array",
                      array,
                      "must be a number that add() gave");
    const int64_t offset = arrays_[static_cast<std::size_t>(array)].offset;
    arguments.require(
        offset != kUnplaced, "array", array, "has no place: call place()");
    return offset;
}

int64_t ArenaPlan::least() const {
    int64_t most = 0;
    for (const Array& moment : arrays_) {  // the fullest moment is when one begins
        int64_t bytes = 0;
        for (const Array& array : arrays_)
            if (array.first <= moment.first && moment.first <= array.last)
                bytes += array.bytes;
        most = std::max(most, bytes);
    }
    return most;
}

std::string ArenaPlan::describe() const {
    std::vector<Array> ordered = arrays_;
    std::stable_sort(
        ordered.begin(), ordered.end(), [](const Array& a, const Array& b) {
            return a.offset < b.offset;
        });
    std::ostringstream text;
    for (const Array& array : ordered)
        text << "  " << array.offset << " + " << array.bytes << "  " << array.name
             << "  " << array.first << ".." << array.last << "\n";
    return text.str();
}

}  // namespace wb::model
