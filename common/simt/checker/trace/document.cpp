#include "document.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>

#include "checker/count/json.h"
#include "checker/findings.h"

namespace simt::check {
namespace {

void append(Json& json, int64_t number) {
    if (number < 0) return (void)json.value(static_cast<int>(number));
    json.value(static_cast<uint64_t>(number));
}

/// Debug information has full paths, __FILE__ what the compiler was given: the full
/// path of a file that the trace has if it ends with the short one.
const std::string& full_path(const std::string& file, const Document& d) {
    if (file.empty() || file[0] == '/') return file;
    const std::string tail = "/" + file;
    for (const Place& place : d.places)
        if (place.file.ends_with(tail)) return place.file;
    return file;
}

void append_place(Json& json, const Place& place, const Document& d) {
    json.open('[').value(full_path(place.file, d)).value(place.line).close(']');
}

void append_patterns(Json& json, const std::vector<Pattern>& patterns) {
    json.key("patterns").open('[');
    for (const Pattern& pattern : patterns) {
        json.open('[');
        for (const int64_t number : pattern)
            append(json, number);
        json.close(']');
    }
    json.close(']');
}

void append_folds(Json& json, const std::vector<Fold>& folds) {
    json.key("folds").open('[');
    for (const Fold& fold : folds) {
        json.open('{').member("times", fold.times).member("steps", fold.steps);
        json.key("places").open('[');
        for (const uint32_t place : fold.places)
            json.value(place);
        json.close(']').key("writes").open('[');
        for (const auto& write : fold.writes)
            for (const int64_t number : write)
                append(json, number);
        json.close(']').close('}');
    }
    json.close(']');
}

/// What many steps have in common, as one number each.
class Shapes {
 public:
    uint64_t number_of(const Step& step) {
        const Key key{static_cast<int>(step.doing),
                      step.place,
                      static_cast<int>(step.space),
                      step.bytes,
                      step.pattern,
                      step.cost,
                      step.ideal,
                      step.object};
        const auto [it, fresh] = numbers_.try_emplace(key, keys_.size());
        if (fresh) keys_.push_back(key);
        return it->second;
    }
    void append_to(Json& json) const {
        json.key("shapes").open('[');
        for (const Key& key : keys_) {
            json.open('[');
            std::apply([&](auto... numbers) { (json.value(numbers), ...); }, key);
            json.close(']');
        }
        json.close(']');
    }

 private:
    using Key =
        std::tuple<int, uint32_t, int, uint32_t, uint32_t, uint32_t, uint32_t, int>;
    std::map<Key, uint64_t> numbers_;
    std::vector<Key> keys_;
};

void append_findings(Json& json, const std::vector<Step>& steps) {
    json.key("findings").open('[');
    for (const Finding& finding : findings())
        json.open('{')
            .member("kind", kind_name(finding.kind))
            .member("what", finding.what)
            .member("text", finding.text)
            .close('}');
    json.close(']').key("found").open('[');  // step, finding
    for (size_t i = 0; i < steps.size(); ++i)
        if (steps[i].finding >= 0) json.value(uint64_t{i}).value(steps[i].finding);
    json.close(']');
}

}  // namespace

std::string json_of(const Document& d) {
    Json json;
    json.open('{')
        .member("version", 1)
        .member("kernel", d.kernel)
        .member("seed", d.seed)
        .triple("grid", d.grid.x, d.grid.y, d.grid.z)
        .triple("block", d.block.x, d.block.y, d.block.z)
        .member("cluster", d.cluster_size)
        .triple("index", d.index.x, d.index.y, d.index.z)
        .member("left_out", uint64_t{d.left_out})
        .member("ended_early", static_cast<int>(d.end));
    append_place(json.key("launched"), d.launched, d);
    json.key("places").open('[');
    for (const Place& place : d.places)
        append_place(json, place, d);
    json.close(']').key("variables").open('[');
    for (const TracedVariable& v : d.variables)
        json.open('{')
            .member("name", v.name)
            .member("begin", static_cast<uint64_t>(v.begin))
            .member("bytes", uint64_t{v.bytes})
            .member("line", v.place.line)
            .close('}');
    json.close(']');
    append_patterns(json, d.trace.patterns);
    Shapes shapes;
    json.key("steps").open('[');  // warp, shape, base
    for (const Step& step : d.trace.steps) {
        json.value(step.warp).value(shapes.number_of(step));
        append(json, step.base);
    }
    json.close(']');
    shapes.append_to(json);
    append_folds(json, d.trace.folds);
    append_findings(json, d.trace.steps);
    json.close('}');
    return json.text() + '\n';
}

void write_document(const Document& document, const char* path) {
    const std::string text = json_of(document);
    FILE* file = std::fopen(path, "w");
    const bool written =
        file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if ((file && std::fclose(file) != 0) || !written)
        std::fprintf(stderr,
                     "==SIMT== cannot write SIMT_TRACE=%s: %s\n",
                     path,
                     std::strerror(errno));
}

}  // namespace simt::check
