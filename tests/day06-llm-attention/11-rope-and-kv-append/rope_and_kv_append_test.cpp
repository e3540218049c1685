// Grades day06-llm-attention/11-rope-and-kv-append: tokens of many kinds.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>

#include <limits>

using namespace rope_grading;

TEST_CASE("one token at position 0 of one sequence") {
    Call c{{{0, 1}}};
    c.pairs = any_pairs();
    grade(any_type(), c);
}

TEST_CASE("as many tokens as a warp has lanes, and one less, and one more") {
    const auto tokens = GENERATE(as<int64_t>(), 31, 32, 33);
    Call c{{{5, tokens}}};
    c.pairs = any_pairs();
    grade(any_type(), c, static_cast<uint64_t>(tokens));
}

TEST_CASE("every head dimension: all of it, all but 16, or a quarter of it rotary") {
    const int64_t head_dim = 16 * GENERATE(range(1, 17));
    if (wb::testing::is_watched() && head_dim % 80 != 0 && head_dim % 128 != 0) return;
    Call c{{{3, 2}, {40, 1}}};
    c.head_dim = head_dim;
    c.pairs = any_pairs();
    const auto type = any_type();
    for (const int64_t rotary_dim : {head_dim, head_dim - 16, head_dim / 4}) {
        c.rotary_dim = rotary_dim;
        grade(type, c);
    }
}

TEST_CASE("a rotary dimension that is no multiple of 16") {
    Call c{{{9, 3}}};
    c.head_dim = 80;
    c.rotary_dim = GENERATE(as<int64_t>(), 2, 6, 20, 24, 40, 78);
    c.pairs = any_pairs();
    grade(any_type(), c);
}

TEST_CASE("the largest head dimension, an odd number of pairs") {
    Call c{{{9, 2}, {0, 1}}};
    c.head_dim = 256;
    c.rotary_dim = GENERATE(as<int64_t>(), 130, 254);
    c.pairs = any_pairs();
    grade(any_type(), c);
}

TEST_CASE("nothing is rotary: keys and values are appended, queries stay") {
    Call c{{{0, 5}}};
    c.rotary_dim = 0;
    grade(any_type(), c);
}

TEST_CASE("no query heads") {
    Call c{{{0, 5}}};
    c.query_heads = 0;
    c.kv_heads = 3;
    c.layout = GENERATE(apart, packed);
    const auto type = any_type();
    grade(type, c);
    c.rotary_dim = 0;
    grade(type, c);
}

TEST_CASE("a prompt, tokens one at a time, and a sequence without new ones") {
    Call c{{{0, 37}, {15, 1}, {16, 1}, {0, 0}, {31, 2}}};
    c.query_heads = 3;
    c.kv_heads = 3;
    c.head_dim = 32;
    c.pairs = any_pairs();
    grade(any_type(), c);
}

TEST_CASE("edges meet") {
    static const auto cases =
        wb::testing::Covering()
            .factor("type", {"fp16", "bf16", "fp8"})
            .factor("pairs", {"halves", "neighbours"})
            .factor("D", {16, 48, 128})
            .factor("rotary", {"all", "none", "a part", "an odd number of pairs"})
            .factor("Hq", {1, 3, 8, 33})
            .factor("Hkv", {1, 2, 8, 9})
            .factor("page", {16, 32, 64, 128, 256})
            .factor("tokens", {1, 3, 70})
            .factor("layout", {"apart", "padded", "packed", "backwards"})
            .factor("spare", {0, 1, 3})
            .factor("order", {"rising", "shuffled"})
            .all_triples()
            // Else it takes the simulator too long.
            .forbid({"D", "Hq", "Hkv", "tokens"},
                    [](const std::vector<int64_t>& v) {
                        return v[0] * (v[1] + 2 * v[2]) * v[3] > 40'000;
                    })
            .forbid({"D", "Hkv", "page"},
                    [](const std::vector<int64_t>& v) {
                        return v[0] * v[1] * v[2] > 40'000;
                    })
            .cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (wb::testing::is_watched() && i >= 12) break;
        const auto& c = cases[i];
        DYNAMIC_SECTION(c.text()) {
            const int64_t tokens = c["tokens"];
            Call call{{{c["page"] - 2, tokens}, {7, tokens / 2}}};
            call.query_heads = c["Hq"];
            call.kv_heads = c["Hkv"];
            call.head_dim = c["D"];
            const int64_t parts[] = {c["D"], 0, 16, c["D"] / 2 + 2};
            call.rotary_dim = parts[c["rotary"]];
            call.pairs = static_cast<RopePairs>(c["pairs"]);
            call.page_size = c["page"];
            constexpr Layout kLayouts[] = {apart, padded, packed, backwards};
            call.layout = kLayouts[c["layout"]];
            call.spare_entries = c["spare"];
            call.shuffled = c["order"] == 1;
            call.spare_angles = static_cast<int64_t>(i % 2) * 5;
            grade(static_cast<Types>(c["type"]), call, i + 1);
        }
    }
}

TEST_CASE("a thousand heads, and many tokens") {
    const bool watched = wb::testing::is_watched();
    Call c{{{0, 2}}};
    c.query_heads = watched ? 40 : 1100;
    c.kv_heads = 5;
    grade(any_type(), c);
    Call many{{{0, watched ? 40 : 1030}, {100, 41}}};
    many.page_size = 64;
    many.pairs = any_pairs();
    grade(any_type(), many);
}

TEST_CASE("more sequences and pages than 12 bits count, and a thousand heads of keys") {
    if (wb::testing::is_watched()) return;
    Call c{std::vector<std::pair<int64_t, int64_t>>(4099, {3, 1})};
    c.spare_entries = 0;
    grade(fp16, c);
    Call heads{{{0, 2}}};
    heads.kv_heads = 1031;
    heads.spare_entries = 0;
    grade(fp8, heads);
    Call queries{{{0, 1}}};
    queries.query_heads = 4099;
    queries.kv_heads = 2;
    grade(bf16, queries);
}

TEST_CASE("the most query heads", "[long]") {
    // A grid has 65,535 blocks along y and along z.
    Call heads{{{0, 1}}};
    heads.query_heads = 65'536;
    grade(bf16, heads);
}

TEST_CASE("positions past 4096") {
    Call c{{{4094, 5}, {9000, 1}}};
    c.pairs = any_pairs();
    grade(any_type(), c);
}

TEST_CASE("positions that 16 bits do not hold, and their angles") {
    constexpr int64_t kPosition = (int64_t{1} << 16) + 5;
    Call c{{{0, 1}}};
    c.rotary_dim = 2;  // one pair: so many rows of angles take little memory
    c.page_size = 256;
    grade_types(GENERATE(fp16, fp8), c, 1, ", position 2^16 + 5", [](Inputs& in) {
        const int32_t page = in.table[0];
        in.positions[0] = static_cast<int32_t>(kPosition);
        in.pages_per_sequence = kPosition / 256 + 1;
        in.table.assign(at(in.pages_per_sequence), -1);
        in.table[at(kPosition / 256)] = page;
        in.angles = wb::testing::random_normal(in.angle_rows() * 2, 6);
    });
}

TEST_CASE("positions past 2^24, which a float does not tell apart") {
    constexpr int64_t kPosition = (int64_t{1} << 24) + 1;
    Call c{{{0, 1}}};
    c.rotary_dim = 0;  // 2^24 rows of angles would be much memory
    c.page_size = 256;
    grade_types(any_type(), c, 1, ", position 2^24 + 1", [](Inputs& in) {
        const int32_t page = in.table[0];
        in.positions[0] = static_cast<int32_t>(kPosition);
        in.pages_per_sequence = kPosition / 256 + 2;
        in.table.assign(at(in.pages_per_sequence), -1);
        in.table[at(kPosition / 256)] = page;
    });
}

TEST_CASE("NaN and infinity reach both numbers of their pair, and no other") {
    const float special = GENERATE(as<float>(),
                                   std::numeric_limits<float>::quiet_NaN(),
                                   std::numeric_limits<float>::infinity(),
                                   -std::numeric_limits<float>::infinity());
    Call c{{{3, 4}}};
    c.kv_heads = 2;
    c.head_dim = 48;
    c.rotary_dim = GENERATE(as<int64_t>(), 32, 6);
    c.query_heads = c.rotary_dim == 32 ? 2 : 6;
    c.pairs = any_pairs();
    const auto change = [&](Inputs& in) {
        for (auto* numbers : {&in.q, &in.k, &in.v}) {
            (*numbers)[at(48 + 3)] = special;         // first of a pair
            (*numbers)[at(3 * 48 + 5)] = special;     // and second one of another
            (*numbers)[at(5 * 48 + 47)] = special;    // not rotary
            (*numbers)[at(4 * 48 + 4)] = -0x1p-133f;  // subnormal in bf16
            for (int64_t d = 0; d < 32; ++d)          // past 65504 when they turn
                (*numbers)[at(6 * 48 + d)] = d % 2 == 0 ? 65024.0f : -65024.0f;
        }
    };
    const auto type = any_type();
    grade_types(type, c, 1, ", special numbers", change);
    // As of position 0: infinity * 0 is NaN here, too.
    grade_types(type, c, 1, ", special numbers, all angles are 0", [&](Inputs& in) {
        change(in);
        for (std::size_t i = 0; i < in.angles.size(); ++i)
            in.angles[i] = i % 2 == 0 ? 1.0f : 0.0f;
    });
}

TEST_CASE("bf16: subnormal cosines and sines, of large numbers") {
    Call c{{{3, 4}}};
    c.pairs = any_pairs();
    c.rotary_dim = GENERATE(as<int64_t>(), 16, 6);
    grade_types(bf16, c, 1, ", angles near 2^-130", [](Inputs& in) {
        for (auto* numbers : {&in.q, &in.k})
            for (float& x : *numbers)
                x = std::ldexp(x, 120);
        for (float& x : in.angles)
            x = std::ldexp(x, -130);
    });
}

TEST_CASE("fp16: between the largest number and infinity") {
    // 65520 is half way to what would be the next number.
    Call c{{{3, 2}}};
    c.pairs = any_pairs();
    grade_types(fp16, c, 1, ", results from 65504 to 65536", [&](Inputs& in) {
        for (auto* numbers : {&in.q, &in.k})
            for (std::size_t i = 0; i < numbers->size(); ++i) {
                const bool is_first =
                    c.pairs == RopePairs::halves ? i % 16 < 8 : i % 2 == 0;
                (*numbers)[i] = !is_first ? 0.0f : i % 3 == 0 ? -65504.0f : 65504.0f;
            }
        for (std::size_t i = 0; i < in.angles.size(); ++i)
            in.angles[i] =
                i % 2 == 0 ? 1.0f + static_cast<float>(i % 7) * 0x1p-14f : 0.0f;
    });
}

TEST_CASE("numbers that are 0 are stored like any other") {
    Call c{{{3, 4}}};
    c.query_heads = 2;
    c.kv_heads = 2;
    c.head_dim = 32;
    c.pairs = any_pairs();
    grade_types(any_type(), c, 1, ", each second head is 0", [](Inputs& in) {
        for (auto* numbers : {&in.q, &in.k, &in.v})
            for (std::size_t i = 0; i < numbers->size(); ++i)
                if (i / 32 % 2 == 1) (*numbers)[i] = 0.0f;
    });
}

TEST_CASE("zeros that do not turn keep their signs") {
    Call c{{{3, 4}}};
    c.query_heads = 2;
    c.kv_heads = 2;
    c.head_dim = 48;
    c.pairs = any_pairs();
    c.rotary_dim = GENERATE(as<int64_t>(), 0, 6, 16);
    grade_types(any_type(), c, 1, ", half of all numbers are zeros", [](Inputs& in) {
        for (auto* numbers : {&in.q, &in.k, &in.v})
            for (std::size_t i = 0; i < numbers->size(); i += 2)
                (*numbers)[i] = i % 4 == 0 ? -0.0f : 0.0f;
        in.k_scale[1] = in.v_scale[0] = -0.5f;
    });
}

TEST_CASE("two sequences write into one page") {
    Call c{{{3, 4}, {9, 3}}};
    c.kv_heads = 2;
    c.pairs = any_pairs();
    grade_types(any_type(), c, 1, ", which is in both rows", [](Inputs& in) {
        in.table[at(in.pages_per_sequence)] = in.table[0];
    });
}

TEST_CASE("keys and values may be one array") {
    Call c{{{3, 4}}};
    c.kv_heads = 2;
    c.layout = shared;
    grade_types(any_type(), c, 1, ", k is v", [](Inputs& in) { in.v = in.k; });
}

TEST_CASE("FP8: large numbers end at 448, small ones are not lost") {
    Call c{{{0, 3}}};
    c.kv_heads = 2;
    c.head_dim = 48;
    grade_types(fp8, c, 1, ", large and small numbers", [](Inputs& in) {
        for (std::size_t i = 0; i < in.v.size(); ++i)
            in.v[i] =
                std::ldexp(i % 2 == 0 ? 1.25f : -1.75f, static_cast<int>(i % 24) - 12);
        in.k = in.v;
        in.v_scale = {1.0f, -0x1p-6f};
        in.k_scale = {-4.0f, 0x1p+10f};
    });
    grade_types(fp8, c, 1, ", scales far below 1", [](Inputs& in) {
        in.v_scale = {0x1p-9f, 0x1p-20f};
        in.k_scale = {0x1p-12f, 0x1p-7f};
    });
    // Near 2^-128, whose inverse would be infinite.
    grade_types(fp8, c, 1, ", subnormal scales", [](Inputs& in) {
        for (auto* numbers : {&in.k, &in.v})
            for (std::size_t i = 0; i < numbers->size(); ++i) {
                float& x = (*numbers)[i];
                x = static_cast<float>(__nv_bfloat16(std::ldexp(x, -120)));
                if (i % 5 == 0) x = 0.0f;
            }
        in.k_scale = {0x1p-127f, -0x1.00002p-128f};
        in.v_scale = {0x1.8p-128f, 0x1p-126f};
    });
    // Keys are small beside scales whose inverse is no normal number.
    grade_types(fp8, c, 1, ", scales far above 1", [](Inputs& in) {
        for (float& x : in.k)
            x = std::ldexp(std::clamp(x, -2.0f, 2.0f), 122);
        for (float& x : in.angles)
            x = std::clamp(x, -1.0f, 1.0f);
        in.k_scale = {0x1.8p+126f, 0x1p+127f};
    });
    // What is not 0 becomes infinite, and so 448; 0 / 0 is NaN.
    grade_types(fp8, c, 1, ", scales of 0", [](Inputs& in) {
        for (auto* numbers : {&in.k, &in.v})
            for (std::size_t i = 0; i < numbers->size(); i += 3)
                (*numbers)[i] = 0.0f;
        in.k_scale = {0.0f, 1.0f};
        in.v_scale = {1.0f, 0.0f};
    });
}

TEST_CASE("the arrays of an earlier call, which was of other sizes") {
    // The first sequence alone, whose rows of the block table and of q are shorter:
    // nothing belongs to an address.
    const auto graded = []<class T, class Stored>(
                            const char* exercise,
                            void (*contract)(const RopeAppend<T, Stored>&,
                                             const wb::PagedWorkspace&,
                                             cudaStream_t)) {
        Call c{{{3, 4}, {9, 12}}};
        c.kv_heads = 2;
        c.shuffled = false;
        const Inputs in = random_inputs<T>(c, 1);
        const Expected e = expected_of<T, Stored>(in, 1);
        for (const auto& [name, idea, run] : wb::implementations(exercise, contract)) {
            const wb::PagedWorkspace nowhere(1);
            const auto twice = [&, run = run](const RopeAppend<T, Stored>& call,
                                              const wb::PagedWorkspace& workspace,
                                              cudaStream_t stream) {
                auto before = call;
                before.tokens = 4;
                before.query_heads = 0;  // else they would be turned twice
                before.cache.batch = 1;
                --before.cache.pages_per_sequence;
                // Another kind of cache, in which no token has a place.
                auto other = before;
                other.pairs = RopePairs::neighbours;
                other.rotary_dim = 14;
                other.cache.page_size *= 2;
                other.cache.num_pages /= 2;
                other.cache.pages_per_sequence = 1;
                other.cache.batch = 0;
                run(other, nowhere, stream);
                run(before, workspace, stream);
                run(call, workspace, stream);
            };
            grade_one<T, Stored>(
                name, twice, in, e, c.text() + ", in the arrays of another call");
        }
    };
    graded("rope_append_fp16", rope_append_fp16);
    graded("rope_append_bf16", rope_append_bf16);
    graded("rope_append_fp8", rope_append_fp8);
}

TEST_CASE("calls have nothing in common") {
    wb::testing::on_another_device([] { grade(bf16, {{{0, 3}}}); });
    wb::testing::expect_independent(
        [] {
            Call c{{{0, 3}}};
            c.head_dim = 32;
            grade(bf16, c);
        },
        [] {
            Call c{{{20, 9}, {1, 2}}};
            c.pairs = RopePairs::neighbours;
            c.layout = packed;
            grade(fp8, c, 2);
        },
        [] {
            Call c{{{16, 3}}};
            c.head_dim = 32;
            c.spare_entries = 0;
            grade(bf16, c, 3);
        });
}
