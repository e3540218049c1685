// Trains a GPT on a text, with the kernels of this book.
//
//     train book.txt --out out --steps 2000 --batch 32
//     train book.txt --out out --steps 2000 --batch 32 --resume
//
// Leaves gpt.safetensors and loss.svg in the folder --out, and weights.safetensors: the
// weights alone, in bf16, of the step with the lowest loss on the text's last tenth,
// which no step sees. Ctrl-C ends it after the
// step, with a checkpoint; --resume goes on there, to the same bits, if --deterministic
// was given both times.
#include <wb/errors.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "loss_curve.h"
#include "trainer.h"

namespace {

volatile std::sig_atomic_t stopped = 0;

void stop(int) {
    stopped = 1;
}

constexpr const char* kUsage =
    "usage: train TEXT [--out DIR] [--resume] [options]\n"
    "  --steps N       of the whole training (2000)\n"
    "  --batch N       sequences of a step (32)\n"
    "  --length N      tokens of each (256)\n"
    "  --rate R        the largest learning rate (0.001)\n"
    "  --warm-up N     steps until it is reached (100)\n"
    "  --clip R        the longest that gradients may be (1); 0: any length\n"
    "  --seed N        of weights, pieces of text, samples (1)\n"
    "  --layers N --width N --heads N --hidden N --rotary N --sequential\n"
    "                  of the model (8, 320, 5, 1280, 16, parallel)\n"
    "  --every N       steps from a checkpoint to the next, and a sample (200)\n"
    "  --prompt TEXT   what samples go on behind (a line's end)\n"
    "  --deterministic the same bits each time\n"
    "  --bf16          products and attention in bf16, weights in float\n"
    "  --graph         launches of a step as a graph, recorded once\n"
    "  --cublas KINDS  products by cuBLAS: outputs, inputs, weights, or all, with "
    "commas\n"
    "                  between them; not in the simulator\n"
    "  --record        leave first.safetensors, the first weights, and\n"
    "                  batches.safetensors, tokens and rate of each step: for\n"
    "                  torch_curve.py\n";

struct Arguments {
    std::string text;
    std::filesystem::path out = ".";
    bool resume = false;
    bool record = false;
    int64_t every = 200;
    std::string prompt = "\n";
    TrainingOptions options;
};

int64_t whole(const std::string& name, const char* text) {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno != 0)
        throw std::invalid_argument(name + " is \"" + text +
                                    "\", but must be a whole number");
    return value;
}

float real(const std::string& name, const char* text) {
    char* end = nullptr;
    const float value = std::strtof(text, &end);
    if (*text == '\0' || *end != '\0')
        throw std::invalid_argument(name + " is \"" + text +
                                    "\", but must be a number");
    return value;
}

/// "inputs,weights" as bits.
unsigned kinds_of(const std::string& text) {
    const std::pair<const char*, unsigned> kinds[] = {{"outputs", kOutputs},
                                                      {"inputs", kInputGradients},
                                                      {"weights", kWeightGradients},
                                                      {"all", kAllProducts}};
    unsigned bits = 0;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const auto* const found =
            std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& kind) {
                return word == kind.first;
            });
        if (found == std::end(kinds))
            throw std::invalid_argument("--cublas: " + word + " is no kind of product");
        bits |= found->second;
    }
    if (!has_cublas())
        throw std::invalid_argument(
            "--cublas: this program has no cuBLAS. The simulator never has; with a GPU "
            "it comes with CUDA's toolkit");
    return bits;
}

Arguments parse(int count, char** words) {
    Arguments a;
    TrainingOptions& o = a.options;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--resume")
            a.resume = true;
        else if (word == "--bf16")
            o.bf16 = true;
        else if (word == "--graph")
            o.graph = true;
        else if (word == "--record")
            a.record = true;
        else if (word == "--sequential")
            o.shape.is_parallel = false;
        else if (word == "--deterministic")
            o.deterministic = true;
        else if (word.rfind("--", 0) != 0) {
            if (!a.text.empty())
                throw std::invalid_argument("two texts: " + a.text + " and " + word);
            a.text = word;
        } else {
            const struct {
                const char* name;
                int64_t& value;
            } integers[] = {{"--steps", o.steps},
                            {"--batch", o.batch},
                            {"--length", o.length},
                            {"--warm-up", o.warm_up},
                            {"--layers", o.shape.layers},
                            {"--width", o.shape.width},
                            {"--heads", o.shape.heads},
                            {"--hidden", o.shape.hidden},
                            {"--rotary", o.shape.rotary},
                            {"--every", a.every}};
            if (i + 1 == count)
                throw std::invalid_argument(word + " needs a value, or is unknown");
            const char* const value = words[++i];
            bool found = false;
            for (const auto& it : integers) {
                if (word != it.name) continue;
                it.value = whole(word, value);
                found = true;
            }
            if (found) continue;
            if (word == "--seed")
                o.seed = static_cast<uint64_t>(whole(word, value));
            else if (word == "--rate")
                o.rate = real(word, value);
            else if (word == "--clip")
                o.clip = real(word, value);
            else if (word == "--cublas")
                o.cublas = kinds_of(value);
            else if (word == "--out")
                a.out = value;
            else if (word == "--prompt")
                a.prompt = value;
            else
                throw std::invalid_argument(word + " is unknown");
        }
    }
    if (a.text.empty()) throw std::invalid_argument("no text is given");
    if (a.every < 1)
        throw std::invalid_argument("--every is " + std::to_string(a.every) +
                                    ", but must be >= 1");
    if (a.record && a.resume)
        throw std::invalid_argument(
            "--record goes from the first step on, and not with --resume");
    o.shape.context = o.length;
    return a;
}

/// A text for a terminal: what cannot be seen becomes a dot.
std::string visible(std::string text) {
    for (char& c : text)
        if (c != '\n' && (c < ' ' || c > '~')) c = '.';
    return text;
}

void save(const Trainer& trainer, const Arguments& a) {
    wb::model::write_checkpoint((a.out / "gpt.safetensors").string(),
                                trainer.checkpoint());
    std::ofstream(a.out / "loss.svg") << svg_curve(trainer.losses());
}

/// The weights with the lowest validation loss so far.
class BestWeights {
 public:
    explicit BestWeights(const Arguments& a) : path_((a.out / kName).string()) {
        if (!a.resume || !std::filesystem::exists(path_)) return;
        const auto notes = wb::model::read_checkpoint(path_).notes;
        const auto found = notes.find(kLoss);
        if (found != notes.end()) best_ = std::strtod(found->second.c_str(), nullptr);
    }

    /// Writes those of this step, if none were better; says so.
    void offer(Trainer& trainer) {
        constexpr int64_t kBatches = 4;
        auto weights = trainer.weights();
        try {
            const double loss = trainer.validation_loss(kBatches);
            std::printf("\nvalidation loss %.4f", loss);
            if (loss >= best_) return;
            best_ = loss;
            weights.notes[kLoss] = std::to_string(loss);
        } catch (const wb::model::TextError&) {
            std::printf("\nno validation loss: a tenth of the text is too short");
        }
        wb::model::write_checkpoint(path_, weights);
        std::printf("; weights are in %s", path_.c_str());
    }

 private:
    static constexpr const char* kName = "weights.safetensors";
    static constexpr const char* kLoss = "validation loss";
    std::string path_;
    double best_ = HUGE_VAL;
};

/// What another program needs to train as this one did: the tokens that the steps were
/// given, and their rates.
class Record {
 public:
    explicit Record(const TrainingOptions& options) : options_(options) {}

    void add(const std::vector<int32_t>& tokens) {
        rates_.push_back(options_.rate_of(static_cast<int64_t>(rates_.size())));
        tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    }
    void write(const std::filesystem::path& path) const {
        using wb::model::ElementType;
        const auto steps = static_cast<int64_t>(rates_.size());
        wb::model::Checkpoint file;
        file.tensors["tokens"] = tensor(
            ElementType::i32, {steps, options_.batch, options_.length + 1}, tokens_);
        file.tensors["rates"] = tensor(ElementType::f32, {steps}, rates_);
        wb::model::write_checkpoint(path.string(), file);
    }

 private:
    template <class T>
    static wb::model::Tensor tensor(wb::model::ElementType type,
                                    std::vector<int64_t> shape,
                                    const std::vector<T>& values) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
        return {type, std::move(shape), {bytes, bytes + values.size() * sizeof(T)}};
    }

    const TrainingOptions& options_;
    std::vector<float> rates_;
    std::vector<int32_t> tokens_;
};

/// From here to the last step, or to Ctrl-C.
void train(Trainer& trainer, const Arguments& a) {
    using Clock = std::chrono::steady_clock;
    const TrainingOptions& o = a.options;
    std::chrono::duration<double> seconds{};  // of steps alone
    const int64_t before = trainer.steps_done();
    Record record(o);
    BestWeights best(a);
    if (a.record)
        wb::model::write_checkpoint((a.out / "first.safetensors").string(),
                                    trainer.checkpoint());
    while (trainer.steps_done() < o.steps && stopped == 0) {
        const auto begin = Clock::now();
        const int64_t done = trainer.step();
        const float loss = trainer.loss();
        seconds += Clock::now() - begin;
        if (a.record) record.add(trainer.tokens());
        const auto tokens = static_cast<double>((done - before) * o.batch * o.length);
        std::printf("\rstep %lld of %lld  loss %.4f  %.0f tokens/s ",
                    static_cast<long long>(done),
                    static_cast<long long>(o.steps),
                    double{loss},
                    tokens / seconds.count());
        std::fflush(stdout);
        if (done % a.every != 0 || done == o.steps) continue;
        save(trainer, a);
        best.offer(trainer);
        const std::string sample = trainer.sample(a.prompt, 160, 0.8);
        std::printf("\n%s\n", visible(sample).c_str());
    }
    save(trainer, a);
    best.offer(trainer);
    if (a.record) record.write(a.out / "batches.safetensors");
    std::printf("\n%s", terminal_curve(trainer.losses()).c_str());
    if (stopped != 0)
        std::printf("Stopped after step %lld; --resume goes on.\n",
                    static_cast<long long>(trainer.steps_done()));
}

}  // namespace

int main(int count, char** words) {
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(words[i], "--help") != 0 && std::strcmp(words[i], "-h") != 0)
            continue;
        std::printf("%s", kUsage);
        return 0;
    }
    Arguments a;
    try {
        a = parse(count, words);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "train: %s\n%s", error.what(), kUsage);
        return 2;
    }
    try {
        std::filesystem::create_directories(a.out);
        const auto file = a.out / "gpt.safetensors";
        if (!a.resume && std::filesystem::exists(file))
            throw std::invalid_argument(file.string() +
                                        " exists: --resume goes on from it, another "
                                        "--out keeps it");
        Trainer trainer(a.options, wb::model::Text::from_file(a.text));
        if (a.resume) trainer.restore(wb::model::read_checkpoint(file.string()));
        std::signal(SIGINT, stop);
        std::signal(SIGTERM, stop);
        train(trainer, a);
        return 0;
    } catch (const std::invalid_argument& error) {
        // Twenty lines of options would hide what is said.
        std::fprintf(stderr, "train: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "train: %s\n", error.what());
        return 1;
    }
}
