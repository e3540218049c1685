// The case study as a program: what the instruments say of each version of the step.
//
//     day07_fusion_case_study_story [--checkpoint FILE] [--text FILE] [--prompt WORDS]
//                                  [--tokens N] [--json FILE]
//
//   --checkpoint FILE  weights that day07-tuning/08-train-a-gpt has written; without
//                      it, random ones of a small model with sequential layers
//   --text FILE        what is read, for the perplexity; without it, a sentence
//   --prompt WORDS     what the model goes on with; without it, 4 bytes of the text
//   --tokens N         that are made after a prompt (12)
//   --json FILE        what was counted and compared, for the book
#include <wb/errors.h>
#include <wb/model/checkpoint.h>
#include <wb/model/text.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "instruments.h"
#include "isolated.h"

namespace {

struct Options {
    std::string checkpoint, text, prompt, json;
    int64_t tokens = 12;
};

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const bool is_known = option == "--checkpoint" || option == "--text" ||
                              option == "--prompt" || option == "--tokens" ||
                              option == "--json";
        if (!is_known || i + 1 == argc)
            throw wb::InvalidArgument(option + ": unknown, or without a value");
        const std::string value = argv[++i];
        if (option == "--checkpoint") options.checkpoint = value;
        if (option == "--text") options.text = value;
        if (option == "--prompt") options.prompt = value;
        if (option == "--json") options.json = value;
        if (option != "--tokens") continue;
        char* end = nullptr;
        options.tokens = std::strtoll(value.c_str(), &end, 10);
        if (*end != '\0' || options.tokens < 1 || options.tokens > 100000)
            throw wb::InvalidArgument("--tokens is " + value +
                                      ", but must be 1 to 100000");
    }
    return options;
}

/// The shape that a checkpoint's notes say, as train-a-gpt writes them.
wb::model::GptShape shape_of(const wb::model::Checkpoint& checkpoint) {
    const auto note = [&](const char* name) {
        const auto found = checkpoint.notes.find(name);
        if (found == checkpoint.notes.end())
            throw wb::model::CheckpointError(std::string("it has no note ") + name);
        return found->second;
    };
    const auto number = [&](const char* name) {
        const std::string text = note(name);
        char* end = nullptr;
        const long long value = std::strtoll(text.c_str(), &end, 10);
        if (text.empty() || *end != '\0')
            throw wb::model::CheckpointError(std::string("its note ") + name + " is " +
                                             text);
        return int64_t{value};
    };
    wb::model::GptShape shape;
    shape.layers = number("layers");
    shape.width = number("width");
    shape.heads = number("heads");
    shape.hidden = number("hidden");
    shape.context = number("context");
    shape.rotary = number("rotary");
    shape.is_parallel = note("residual") == "parallel";
    return shape;
}

DecoderShape small() {
    DecoderShape s;
    s.gpt.layers = 3;
    s.gpt.width = 32;
    s.gpt.heads = 2;
    s.gpt.hidden = 64;
    s.gpt.rotary = 8;
    s.gpt.is_parallel = false;
    s.sinks = 2;
    s.window = 14;
    s.page_size = 4;
    s.tokens = 64;
    return s;
}

std::vector<int32_t> tokens_of(const std::string& text, int64_t most) {
    std::vector<int32_t> tokens;
    for (const char c : text) {
        if (static_cast<int64_t>(tokens.size()) == most) break;
        tokens.push_back(static_cast<unsigned char>(c));
    }
    return tokens;
}

struct Version {
    const char* key;
    const char* name;
    DecodeStep step;
};

/// Tells it, and gives it as a line of JSON, too.
std::string tell(const Version& version,
                 Model& model,
                 const std::vector<int32_t>& prompt,
                 const std::vector<int32_t>& text,
                 int64_t made,
                 const Record& right,
                 const Record& right_read) {
    const Record record = generate(model, version.step, prompt, made);
    const Record read = read_text(model, version.step, text);
    const Record graph = generate(model, version.step, prompt, made, How::as_a_graph);
    const Parting parting = first_parting(right_read, read, 1e-3);
    const int64_t token = first_different_token(right, record);
    const auto steps = static_cast<int64_t>(record.picks.size());
    std::printf("\n%s\n", version.name);
    std::printf("  launches a step     %lld, of which the fused kernel %lld\n",
                static_cast<long long>(record.nodes),
                static_cast<long long>(record.add_norm_calls / steps));
    std::printf("  bytes a step        %lld\n", static_cast<long long>(record.bytes));
    std::printf("  ms a token          %.3f, as a graph %.3f\n", record.ms, graph.ms);
    std::printf("  perplexity          %.2f\n", perplexity(read));
    if (token < 0)
        std::printf("  text                the same\n");
    else
        std::printf("  text                another one from token %lld on\n",
                    static_cast<long long>(token));
    std::printf("  hidden states part  ");
    if (parting.step < 0)
        std::printf("nowhere\n");
    else
        std::printf("at token %lld, %s, by %.3g\n",
                    static_cast<long long>(parting.step),
                    name_of_place(parting.place).c_str(),
                    parting.difference);
    std::printf("  farthest, by place ");
    for (const double difference : parting.by_place)
        std::printf(" %.2g", difference);
    std::printf("\n");
    char row[256];
    std::snprintf(row,
                  sizeof row,
                  "    {\"version\": \"%s\", \"launches\": %lld, \"calls\": %lld, "
                  "\"bytes\": %lld, \"perplexity\": %.3g, \"first_token\": %lld, "
                  "\"by_place\": [",
                  version.key,
                  static_cast<long long>(record.nodes),
                  static_cast<long long>(record.add_norm_calls / steps),
                  static_cast<long long>(record.bytes),
                  perplexity(read),
                  static_cast<long long>(token));
    std::string json = row;
    for (size_t i = 0; i < parting.by_place.size(); ++i) {
        std::snprintf(
            row, sizeof row, "%s%.2g", i == 0 ? "" : ", ", parting.by_place[i]);
        json += row;
    }
    const double farthest =
        *std::max_element(parting.by_place.begin(), parting.by_place.end());
    std::snprintf(row, sizeof row, "], \"farthest\": %.2g}", farthest);
    return json + row;
}

void write_json(const std::string& path, const std::string& rows) {
    std::ofstream file(path);
    file << "{\n  \"what\": \"a small decoder beside the unfused one: launches, bytes "
            "and "
            "calls of the fused kernel of a step, and the largest difference of hidden "
            "states at each place, of all tokens of the same text\",\n"
            "  \"program\": \"day07_fusion_case_study_story_solution --json\",\n"
            "  \"rows\": [\n"
         << rows << "\n  ]\n}\n";
    file.close();
    if (!file) throw std::runtime_error(path + ": cannot be written");
}

/// What the build of the workbook holds the story to.
int failures(Model& model, const std::vector<int32_t>& prompt, const Record& right) {
    int failed = 0;
    const auto require = [&](bool met, const char* what) {
        if (met) return;
        std::printf("not so: %s\n", what);
        ++failed;
    };
    const auto record = [&](DecodeStep step) {
        return generate(model, step, prompt, 4);
    };
    const Record silent = record(s0_step_not_called);
    require(silent.add_norm_calls == 0, "S0's first report: the kernel is not called");
    require(first_parting(right, silent, 0.0).step < 0, "and nothing changes");
    const Record called = record(s0_step);
    require(called.add_norm_calls ==
                static_cast<int64_t>(called.picks.size()) * (called.places - 1),
            "S0's second report: it is called twice a layer");
    const Parting parting = first_parting(right, called, 1e-3);
    require(parting.step == 0 && parting.place == 1,
            "hidden states part behind the first sub-layer");
    require(called.nodes < right.nodes, "with fewer launches");
    return failed;
}

int run(const Options& options) {
    DecoderShape shape = small();
    std::vector<float> weights;
    if (options.checkpoint.empty()) {
        weights = random_weights(shape.gpt, 2);
    } else {
        const auto checkpoint = wb::model::read_checkpoint(options.checkpoint);
        shape = DecoderShape{};
        shape.gpt = shape_of(checkpoint);
        weights = weights_of(checkpoint, shape.gpt);
        shape.tokens = std::max<int64_t>(shape.tokens, options.tokens + 16);
    }
    shape.tokens = std::max(shape.tokens, options.tokens + 16);
    std::string words = "A kernel that is right can still be the wrong one.";
    if (!options.text.empty()) {
        const auto text = wb::model::Text::from_file(options.text);
        words.clear();
        const int64_t size =
            std::min(text.size(wb::model::Part::validation), shape.tokens);
        for (const int32_t token :
             text.pieces(wb::model::Part::validation, 1, 0, 1, size - 1))
            words.push_back(static_cast<char>(token));
    }
    const std::vector<int32_t> text = tokens_of(words, shape.tokens);
    if (text.size() < 2) throw wb::model::TextError("the text has fewer than 2 bytes");
    const bool has_prompt = !options.prompt.empty();
    const std::vector<int32_t> prompt =
        has_prompt ? tokens_of(options.prompt, shape.tokens) : tokens_of(words, 4);
    Model model(shape, weights);

    std::printf("The report's kernel by itself\n");
    int failed = 0;
    for (const int64_t rows : {1, 3}) {
        const double error = isolated_error(rows, shape.gpt.width);
        std::printf("  [%lld, %lld]  error %g\n",
                    static_cast<long long>(rows),
                    static_cast<long long>(shape.gpt.width),
                    error);
        failed += error == 0.0 ? 0 : 1;
    }
    const Record right = generate(model, unfused_step, prompt, options.tokens);
    const Record right_read = read_text(model, unfused_step, text);
    std::vector<Version> versions = {{"unfused", "unfused", unfused_step}};
    if (!shape.gpt.is_parallel) {
        versions.push_back(
            {"not_called", "the report's first version", s0_step_not_called});
        versions.push_back({"called", "the report's second version", s0_step});
        failed += failures(model, prompt, generate(model, unfused_step, prompt, 4));
    }
    versions.push_back({"mended", "yours: decode_step()", decode_step});
    std::string rows;
    for (const Version& version : versions) {
        if (!rows.empty()) rows += ",\n";
        rows += tell(version, model, prompt, text, options.tokens, right, right_read);
    }
    if (!options.json.empty()) write_json(options.json, rows);
    return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(options_of(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
