#include <wb/arguments.h>
#include <wb/model/gpt.h>

namespace wb::model {
namespace {

constexpr int64_t kAlignment = 64;  // elements

void check(const GptShape& shape) {
    const Arguments arguments("gpt_parameters");
    arguments.positive("layers", shape.layers)
        .positive("width", shape.width)
        .positive("heads", shape.heads)
        .positive("hidden", shape.hidden)
        .positive("context", shape.context)
        .size("rotary", shape.rotary)
        .above_zero("eps", shape.eps)
        .require(shape.width % shape.heads == 0,
                 "width",
                 shape.width,
                 "must be a multiple of heads")
        .require(shape.rotary % 2 == 0, "rotary", shape.rotary, "must be even")
        .require(shape.rotary <= shape.head_dim(),
                 "rotary",
                 shape.rotary,
                 "must be at most width / heads");
    // The largest product of all; the sum over the layers has less than 32 of them.
    arguments.product("32 * layers * width * (width + hidden)",
                      {32, shape.layers, shape.width, shape.width + shape.hidden});
}

/// Adds parameters one behind the other.
class Table {
 public:
    void matrix(const std::string& name, int64_t outputs, int64_t inputs) {
        add(name, {outputs, inputs}, true);
    }
    void vector(const std::string& name, int64_t size) { add(name, {size}, false); }
    void linear(const std::string& name, int64_t outputs, int64_t inputs) {
        matrix(name + ".weight", outputs, inputs);
        vector(name + ".bias", outputs);
    }
    void norm(const std::string& name, int64_t width) {
        vector(name + ".weight", width);
        vector(name + ".bias", width);
    }
    std::vector<GptParameter> parameters;

 private:
    void add(const std::string& name, std::vector<int64_t> shape, bool decays) {
        parameters.push_back({name, std::move(shape), next_, decays});
        const int64_t end = next_ + parameters.back().elements();
        next_ = (end + kAlignment - 1) / kAlignment * kAlignment;
    }
    int64_t next_ = 0;
};

}  // namespace

int64_t GptParameter::elements() const {
    int64_t count = 1;
    for (const int64_t size : shape)
        count *= size;
    return count;
}

std::vector<GptParameter> gpt_parameters(const GptShape& shape) {
    check(shape);
    Table table;
    table.matrix("embed_in.weight", kVocabulary, shape.width);
    for (int64_t i = 0; i < shape.layers; ++i) {
        const std::string layer = "layers." + std::to_string(i);
        table.norm(layer + ".norm1", shape.width);
        table.linear(layer + ".attention.qkv", 3 * shape.width, shape.width);
        table.linear(layer + ".attention.out", shape.width, shape.width);
        table.norm(layer + ".norm2", shape.width);
        table.linear(layer + ".mlp.up", shape.hidden, shape.width);
        table.linear(layer + ".mlp.down", shape.width, shape.hidden);
    }
    table.norm("norm", shape.width);
    table.matrix("embed_out.weight", kVocabulary, shape.width);
    return table.parameters;
}

int64_t gpt_elements(const std::vector<GptParameter>& parameters) {
    if (parameters.empty()) return 0;
    const GptParameter& last = parameters.back();
    return (last.offset + last.elements() + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace wb::model
