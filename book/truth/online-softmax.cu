// online-softmax.cu: rows of wb::OnlineSoftmax, key by key and merged part by part, for
// the figure <OnlineSoftmax />. Every number comes from common/include/wb/
// online_softmax.h, computed by a kernel of one thread.
#include <json.h>
#include <wb/check.h>
#include <wb/online_softmax.h>

#include <cmath>
#include <cstdio>
#include <vector>

using State = wb::OnlineSoftmax<1>;

/// A state as a kernel hands it out, and the results that are read from it.
struct Result {
    float max, sum, o;
    float output, log_sum_exp;
};

/// Up to kKeys keys of a row.
constexpr int kKeys = 16;
struct Row {
    int num_keys;
    int part_size;
    float scores[kKeys];
    float values[kKeys];
    bool masked[kKeys];
};

__device__ Result result_of(const State& state) {
    return {state.max,
            state.sum,
            state.o[0],
            state.o[0] * state.scale(),
            state.log_sum_exp()};
}

__device__ void add(State* state, const Row& row, int key) {
    const float value[1] = {row.values[key]};
    if (!row.masked[key]) state->add(row.scores[key], value);
}

/// The state after each key.
/// Launch   one thread
__global__ void walk_kernel(Row row, Result* results) {  // [num_keys]
    State state;
    for (int key = 0; key < row.num_keys; ++key) {
        add(&state, row, key);
        results[key] = result_of(state);
    }
}

/// The parts, and the states that they are merged to, level by level; as in a
/// reduction, neighbours first. A state without a neighbour goes up as it is.
/// Launch   one thread
__global__ void tree_kernel(Row row, Result* results) {  // [2 * parts]
    State states[kKeys];
    int count = 0;
    for (int first = 0; first < row.num_keys; first += row.part_size) {
        for (int key = first; key < min(first + row.part_size, row.num_keys); ++key)
            add(&states[count], row, key);
        ++count;
    }
    for (;; count = (count + 1) / 2) {
        for (int i = 0; i < count; ++i)
            *results++ = result_of(states[i]);
        if (count == 1) return;
        for (int i = 0; i < count; i += 2) {
            State merged = states[i];
            if (i + 1 < count) {
                const State& other = states[i + 1];
                merged.merge(other.max, other.sum, other.o);
            }
            states[i / 2] = merged;
        }
    }
}

/// JSON has no infinity: "-inf" stands for it.
static void write(truth::Json* json, const char* name, float number) {
    json->key(name);
    if (number == -INFINITY) {
        json->value("-inf");
    } else {
        json->value(number);
    }
}

static void write(truth::Json* json, const Result* results, int count) {
    json->open('[');
    for (int i = 0; i < count; ++i) {
        json->open('{');
        write(json, "max", results[i].max);
        write(json, "sum", results[i].sum);
        write(json, "o", results[i].o);
        write(json, "output", results[i].output);
        write(json, "logSumExp", results[i].log_sum_exp);
        json->close('}');
    }
    json->close(']');
}

static void write_row(truth::Json* json, const Row& row) {
    Result* results = nullptr;
    CUDA_CHECK(cudaMallocManaged(&results, 4 * kKeys * sizeof(Result)));
    json->open('{').member("partSize", row.part_size).key("keys").open('[');
    for (int key = 0; key < row.num_keys; ++key) {
        json->open('{')
            .member("score", row.scores[key])
            .member("value", row.values[key])
            .member("masked", row.masked[key])
            .close('}');
    }
    json->close(']').key("walk");
    walk_kernel<<<1, 1>>>(row, results);
    CUDA_CHECK(cudaDeviceSynchronize());
    write(json, results, row.num_keys);
    json->key("tree").open('[');
    tree_kernel<<<1, 1>>>(row, results);
    CUDA_CHECK(cudaDeviceSynchronize());
    int first = 0;
    for (int count = (row.num_keys + row.part_size - 1) / row.part_size;;
         count = (count + 1) / 2) {
        write(json, results + first, count);
        first += count;
        if (count == 1) break;
    }
    json->close(']').close('}');
    CUDA_CHECK(cudaFree(results));
}

int main() {
    const float scores[8] = {0, 1, 2, -1, 4, 0, 3, 1};
    const float values[8] = {30, 20, 10, 40, 50, 60, 5, 15};
    std::vector<Row> rows;
    // The figure's first state, where keys 4 and 5 are masked: a part without a key.
    Row row{.num_keys = 8, .part_size = 2, .scores = {}, .values = {}, .masked = {}};
    for (int key = 0; key < 8; ++key) {
        row.scores[key] = scores[key];
        row.values[key] = values[key];
        row.masked[key] = key == 4 || key == 5;
    }
    for (const int part_size : {2, 1, 4}) {
        row.part_size = part_size;
        rows.push_back(row);
    }
    row.part_size = 2;
    for (bool& masked : row.masked)
        masked = false;
    rows.push_back(row);  // nothing masked
    row.masked[0] = row.masked[1] = row.masked[2] = row.masked[3] = true;
    rows.push_back(row);  // two empty parts are merged with each other
    for (bool& masked : row.masked)
        masked = true;
    rows.push_back(row);  // no key at all
    for (int key = 0; key < 8; ++key) {
        row.scores[key] = 1250.0f * static_cast<float>(key);  // each a new maximum
        row.masked[key] = false;
    }
    rows.push_back(row);
    Row tail{.num_keys = 7, .part_size = 3, .scores = {}, .values = {}, .masked = {}};
    for (int key = 0; key < 7; ++key) {
        tail.scores[key] =
            std::fmod(0.37f * static_cast<float>(key * key), 5.0f) - 2.5f;
        tail.values[key] = 0.1f * static_cast<float>(7 - key);
    }
    rows.push_back(tail);  // three parts: the last goes up alone

    truth::Json json;
    json.open('{').key("rows").open('[');
    for (const Row& each : rows)
        write_row(&json, each);
    json.close(']').close('}').print();
}
