// Grades day07-tuning/08-train-a-gpt: steps one after the other.
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "trainer.h"
#include "written.h"

using gpt_grading::expect_error;
using wb::model::Checkpoint;
using wb::model::CheckpointError;
using wb::model::Text;

namespace {

TrainingOptions options_of(bool is_parallel) {
    TrainingOptions options;
    options.shape.layers = 2;
    options.shape.width = 32;
    options.shape.heads = 2;
    options.shape.hidden = 64;
    options.shape.context = 16;
    options.shape.rotary = 8;
    options.shape.is_parallel = is_parallel;
    options.batch = 1;
    options.length = 16;
    options.steps = 60;
    options.rate = 1e-2f;
    options.warm_up = 5;
    options.deterministic = true;
    return options;
}

/// A text that has one piece of 17 bytes, and its last tenth: always the same batch.
Text one_piece() {
    return Text("To be or not to be");
}

bool same(const Checkpoint& a, const Checkpoint& b) {
    if (a.notes != b.notes || a.tensors.size() != b.tensors.size()) return false;
    for (const auto& [name, tensor] : a.tensors)
        if (b.tensors.at(name).bytes != tensor.bytes) return false;
    return true;
}

std::string file_of_test(const char* name) {
    return (std::filesystem::temp_directory_path() /
            (std::string(name) + std::to_string(getpid()) + ".safetensors"))
        .string();
}

}  // namespace

// A training in double of the same weights, made once for this test, has a loss of 0.77
// (parallel) and 0.95 (sequential) after 20 steps, and of 0.03 (parallel) after 60.
TEST_CASE("twenty steps learn, sixty know one batch by heart") {
    gpt_grading::require_written();
    if (wb::testing::is_watched()) return;
    const bool is_parallel = GENERATE(true, false);
    Trainer trainer(options_of(is_parallel), one_piece());
    trainer.step();
    const float first = trainer.loss();
    CHECK(std::abs(first - std::log(256.0f)) < 0.1f);
    while (trainer.step() < 20) {
    }
    CHECK(trainer.loss() < 0.25f * first);
    if (!is_parallel) return;
    while (trainer.step() < 60) {
    }
    CHECK(trainer.loss() < 0.2f);
    CHECK(trainer.sample("To be", 6, 0.1) == " or no");
}

TEST_CASE("a training that was stopped goes on with the same bits") {
    gpt_grading::require_written();
    if (wb::testing::is_watched()) return;
    const Text text("What is read twice, as a residual, must still be there.");
    TrainingOptions options = options_of(false);
    options.batch = 2;
    options.length = 5;
    Trainer at_once(options, text);
    while (at_once.step() < 4) {
    }
    Trainer again(options, text);
    while (again.step() < 4) {
    }
    CHECK(same(at_once.checkpoint(), again.checkpoint()));

    const std::string path = file_of_test("wb_train_");
    {
        Trainer stopped(options, text);
        while (stopped.step() < 2) {
        }
        wb::model::write_checkpoint(path, stopped.checkpoint());
    }
    Trainer resumed(options, text);
    resumed.restore(wb::model::read_checkpoint(path));
    std::remove(path.c_str());
    CHECK(resumed.steps_done() == 2);
    (void)resumed.sample("W", 2, 1.0);  // changes nothing
    while (resumed.step() < 4) {
    }
    CHECK(same(at_once.checkpoint(), resumed.checkpoint()));
}

TEST_CASE("a training in bf16 learns, and goes on with the same bits") {
    gpt_grading::require_written();
    if (wb::testing::is_watched() || !gpt_grading::runs_bf16()) return;
    TrainingOptions options = options_of(true);
    options.bf16 = true;
    options.shape.rotary = 16;
    Trainer trainer(options, one_piece());
    trainer.step();
    const float first = trainer.loss();
    while (trainer.step() < 12) {
    }
    // A graph of the same launches has the same bits; its first step is none yet.
    options.graph = true;
    Trainer resumed(options, one_piece());
    resumed.restore(trainer.checkpoint());
    for (int i = 0; i < 3; ++i) {
        trainer.step();
        resumed.step();
    }
    CHECK(same(trainer.checkpoint(), resumed.checkpoint()));
    CHECK(trainer.loss() < 0.6f * first);
    options.graph = false;
    options.bf16 = false;
    Trainer in_float(options, one_piece());
    expect_error("products is bf16", [&] { in_float.restore(trainer.checkpoint()); });
}

TEST_CASE("weights alone are rounded, and a loss on other pieces changes nothing") {
    gpt_grading::require_written();
    if (wb::testing::is_watched()) return;
    const Text text(std::string(180, 'a') + std::string(20, 'b'));
    Trainer trainer(options_of(true), text);
    trainer.step();
    const float loss = trainer.loss();
    CHECK(std::abs(trainer.validation_loss(2) - std::log(256.0)) < 0.2);
    while (trainer.step() < 10) {
    }
    CHECK(trainer.loss() < 0.5f * loss);               // it knows a
    CHECK(trainer.validation_loss(2) > double{loss});  // and not b
    const Checkpoint all = trainer.checkpoint();
    const Checkpoint weights = trainer.weights();
    CHECK(weights.notes.at("width") == "32");
    CHECK(weights.notes.at("step") == "10");
    for (const auto& [name, tensor] : weights.tensors) {
        const auto& exact = all.tensors.at(name);
        REQUIRE(tensor.type == wb::model::ElementType::bf16);
        REQUIRE(tensor.shape == exact.shape);
        for (std::size_t i = 0; i < tensor.bytes.size() / 2; ++i) {
            uint32_t bits = 0;  // a bf16 is the upper half of a float
            std::memcpy(reinterpret_cast<char*>(&bits) + 2, &tensor.bytes[2 * i], 2);
            float rounded, number;
            std::memcpy(&rounded, &bits, 4);
            std::memcpy(&number, &exact.bytes[4 * i], 4);
            REQUIRE(std::abs(rounded - number) <= 0x1p-8f * std::abs(number));
        }
    }
    CHECK(all.tensors.size() == 3 * weights.tensors.size() + 1);
}

TEST_CASE("a checkpoint of another training is refused, and nothing changes") {
    gpt_grading::require_written();
    if (wb::testing::is_watched()) return;
    Trainer trainer(options_of(true), one_piece());
    const Checkpoint before = trainer.checkpoint();
    const auto refused = [&](const std::string& why, auto change) {
        Checkpoint wrong = before;
        change(wrong);
        expect_error(why, [&] { trainer.restore(wrong); });
        CHECK(same(trainer.checkpoint(), before));
    };
    refused("seed is 9", [](Checkpoint& c) { c.notes["seed"] = "9"; });
    refused("does not say its batch", [](Checkpoint& c) { c.notes.erase("batch"); });
    refused("step is no number", [](Checkpoint& c) { c.notes["step"] = "-1"; });
    refused("second.norm.bias",
            [](Checkpoint& c) { c.tensors.erase("second.norm.bias"); });
    refused("norm.bias", [](Checkpoint& c) {
        c.tensors.at("norm.bias").shape = {2, 16};
    });
    refused("embed_out.weight", [](Checkpoint& c) {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(c.tensors.at("embed_out.weight").bytes.data() + 400, &nan, 4);
    });
}

TEST_CASE("the rate rises, and falls to a tenth") {
    gpt_grading::require_written();
    TrainingOptions options;
    options.rate = 1.0f;
    options.steps = 110;
    options.warm_up = 10;
    CHECK(options.rate_of(0) == 0.1f);
    CHECK(options.rate_of(9) == 1.0f);
    CHECK(options.rate_of(10) == 1.0f);
    CHECK(std::abs(options.rate_of(60) - 0.55f) < 1e-6f);
    CHECK(std::abs(options.rate_of(110) - 0.1f) < 1e-6f);
    CHECK(options.rate_of(200) == options.rate_of(110));
}

TEST_CASE("a training that cannot be is refused by name") {
    gpt_grading::require_written();
    const auto refused = [](const char* why, auto change) {
        TrainingOptions options = options_of(true);
        change(options);
        expect_error(why, [&] { Trainer(options, one_piece()); });
    };
    refused("steps is 0", [](auto& o) { o.steps = 0; });
    refused("rate is 0", [](auto& o) { o.rate = 0.0f; });
    refused("warm_up is -1", [](auto& o) { o.warm_up = -1; });
    refused("batch is 0", [](auto& o) { o.batch = 0; });
    CHECK_THROWS_AS(Trainer(options_of(true), Text("too short")), wb::model::TextError);
    Trainer trainer(options_of(true), one_piece());
    expect_error("prompt.size() is 0", [&] { (void)trainer.sample("", 1, 1.0); });
    expect_error("prompt.size() is 19",
                 [&] { (void)trainer.sample("longer than sixteen", 1, 1.0); });
    expect_error("temperature is 0", [&] { (void)trainer.sample("a", 1, 0.0); });
}
