#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/head_dim.h>
#include <wb/online_softmax.h>

#include <algorithm>
#include <string>

namespace wb {
namespace {

/// "32, 64 or 128"
std::string one_of(std::initializer_list<int64_t> values) {
    std::string text;
    const int64_t* const last = values.end() - 1;
    for (const int64_t* value = values.begin(); value != values.end(); ++value) {
        if (value != values.begin()) text += value == last ? " or " : ", ";
        text += std::to_string(*value);
    }
    return text;
}

}  // namespace

void check_shape(const Arguments& arguments,
                 const AttentionShape& shape,
                 std::initializer_list<int64_t> head_dims) {
    const bool known = std::find(head_dims.begin(), head_dims.end(), shape.head_dim) !=
                       head_dims.end();
    const int64_t heads = shape.kv_heads;
    arguments.size("shape.batch", shape.batch)
        .size("shape.query_heads", shape.query_heads)
        .size("shape.kv_heads", heads)
        .require(
            shape.query_heads == 0 || (heads > 0 && shape.query_heads % heads == 0),
            "shape.query_heads",
            shape.query_heads,
            ("must be a multiple of shape.kv_heads, which is " + std::to_string(heads))
                .c_str())
        .size("shape.queries", shape.queries)
        .size("shape.keys", shape.keys)
        .require(shape.queries <= kMaxSequence,
                 "shape.queries",
                 shape.queries,
                 "must be <= 2^30")
        .require(
            shape.keys <= kMaxSequence, "shape.keys", shape.keys, "must be <= 2^30")
        .require(known,
                 "shape.head_dim",
                 shape.head_dim,
                 ("must be " + one_of(head_dims)).c_str())
        .magnitude("shape.scale", shape.scale, kMaxScale);
    arguments.product("batch * query_heads * queries * head_dim",
                      {shape.batch, shape.query_heads, shape.queries, shape.head_dim});
    arguments.product("batch * kv_heads * keys * head_dim",
                      {shape.batch, shape.kv_heads, shape.keys, shape.head_dim});
}

void detail::refuse_head_dim(int64_t head_dim, std::initializer_list<int> dims) {
    std::string requirement = "must be one of";
    for (const int dim : dims)
        requirement += " " + std::to_string(dim);
    Arguments("with_head_dim")
        .require(false, "head_dim", head_dim, requirement.c_str());
}

std::string describe(const AttentionShape& shape) {
    std::string text = "B" + std::to_string(shape.batch);
    if (shape.query_heads == shape.kv_heads) {
        text += " H" + std::to_string(shape.query_heads);
    } else {
        text += " Hq" + std::to_string(shape.query_heads) + " Hkv" +
                std::to_string(shape.kv_heads);
    }
    if (shape.queries == shape.keys) {
        text += " N" + std::to_string(shape.queries);
    } else {
        text +=
            " Nq" + std::to_string(shape.queries) + " Nk" + std::to_string(shape.keys);
    }
    text += " D" + std::to_string(shape.head_dim);
    return shape.causal ? text + " causal" : text;
}

double attention_flop(const AttentionShape& shape) {
    const double full = 4.0 * static_cast<double>(shape.query_elements()) *
                        static_cast<double>(shape.keys);
    return shape.causal ? full / 2.0 : full;
}

}  // namespace wb
