// Grades day06-llm-attention/11-rope-and-kv-append: tokens that have no place.
#include "grading.h"

#include <climits>

using namespace rope_grading;

TEST_CASE("a token without a place is reported, and the others are done") {
    Call c{{{0, 20}, {3, 5}}};
    c.pairs = any_pairs();
    if (c.pairs == RopePairs::halves) {
        c.kv_heads = 2;
        c.head_dim = 32;
    } else {
        c.query_heads = 1;  // a token is less than a warp
    }
    c.spare_angles = 40;  // angles, but no place
    c.shuffled = false;
    const auto place = GENERATE(as<int64_t>(), 0, 9, 24);
    if (place == 9) c.rotary_dim = 0;
    const auto type = any_type();
    const std::string token = "token " + std::to_string(place);
    const auto put = [&](int32_t sequence, int32_t position, const std::string& part) {
        grade_types(type,
                    c,
                    1,
                    ", " + part,
                    [&](Inputs& in) {
                        in.sequences[at(place)] = sequence;
                        in.positions[at(place)] = position;
                    },
                    {part});
    };
    SECTION("no such sequence") {
        put(2, 0, token + " is for sequence 2");
    }
    SECTION("a negative sequence") {
        put(-1, 0, token + " is for sequence -1");
    }
    SECTION("past the row of the table") {
        put(1, 48, "sequence 1: " + token + " is for position 48");
    }
    SECTION("a negative position") {
        put(0, -1, "sequence 0: " + token + " is for position -1");
    }
    SECTION("far past all sequences") {
        put(INT32_MAX, 0, token + " is for sequence 2147483647");
        put(INT32_MIN, 0, token + " is for sequence -2147483648");
    }
    SECTION("far past all positions") {
        put(1, INT32_MAX, token + " is for position 2147483647");
        put(1, INT32_MIN, token + " is for position -2147483648");
    }
    SECTION("a page that the table does not have") {
        put(1, 16, "sequence 1: entry 1 of its block table is -1");
    }
    SECTION("the last slot of it") {
        put(1, 47, "sequence 1: entry 2 of its block table is -1");
    }
}

TEST_CASE("of two tokens without a place, one is reported, not some of each") {
    Call c{{{0, 20}, {3, 5}}};
    c.shuffled = false;
    grade_types(
        any_type(),
        c,
        1,
        ", tokens 3 and 21 have no place",
        [](Inputs& in) {
            in.sequences[3] = 7;
            in.positions[21] = 99;
        },
        {"token 3 is for sequence 7", "sequence 1: token 21 is for position 99"});
}

TEST_CASE("a page that the pool does not have is reported") {
    Call c{{{0, 20}}};
    c.head_dim = 32;
    c.query_heads = GENERATE(as<int64_t>(), 2, 0);
    const auto type = any_type();
    const auto graded = [&](auto page_of) {
        grade_types(type,
                    c,
                    1,
                    ", a page too many",
                    [&](Inputs& in) { in.table[1] = page_of(in); },
                    {"sequence 0: entry 1 of its block table is"});
    };
    graded([](const Inputs& in) { return static_cast<int32_t>(in.num_pages); });
    for (const int32_t page : {-2, INT32_MIN, INT32_MAX})
        graded([&](const Inputs&) { return page; });
}

TEST_CASE("a call is done while a fault of an earlier one waits for check()") {
    const Call c{{{3, 40}}};
    const Inputs in = random_inputs<__half>(c, 1);
    const auto e = expected_of<__half, __half>(in, 1);
    for (const auto& [name, idea, run] :
         wb::implementations("rope_append_fp16", rope_append_fp16)) {
        const auto twice = [run = run](const RopeAppend<__half, __half>& call,
                                       const wb::PagedWorkspace& workspace,
                                       cudaStream_t stream) {
            auto before = call;
            before.cache.batch = 0;  // there is no such sequence
            run(before, workspace, stream);
            run(call, workspace, stream);
        };
        const std::string text = c.text() + ", after a call without places";
        grade_one<__half, __half>(name, twice, in, e, text, {"is for sequence 0"});
    }
}
