// Grades day06-llm-attention/10-hstu-attention: what calls share: functions,
// devices, arrays, and the memory that these lie in.
#include "grading.h"

#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>

using namespace hstu_grading;

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            Call c{{7, 2}};
            c.bias = Bias::positions;
            grade(bf16, c);
        },
        [] {
            Call c{{0, 40}};
            c.head_dim = 64;
            c.mask = HstuMask::target;
            grade(bf16, c, 2);  // of the same type: each has its own launchers
        },
        [] {
            Call c{{7, 2}};
            c.bias = Bias::positions;
            c.scaling_length = 30;
            grade(bf16, c, 3);
        });
    wb::testing::on_another_device([] {
        grade(bf16, Call{{7, 2}});
        Call c{{7, 2}};
        c.head_dim = 64;
        grade(bf16, c);
    });
}

TEST_CASE("what a kernel asks for once, it asks for on each device") {
    // More shared memory than 48 KB, for one.
    if (wb::testing::is_watched()) return;
    Call c{{20, 13}};
    c.head_dim = GENERATE(128, 256);
    c.bias = GENERATE(Bias::none, Bias::both);
    const auto type = any_type();
    const auto graded = [&] { grade(type, c, 1, Passes::both, Versions::last); };
    graded();
    wb::testing::on_another_device(graded);
}

TEST_CASE("calls have nothing in common: tiles of rows, and a bias after none") {
    wb::testing::expect_independent(
        [] {
            Call c{{0, 40}};
            c.head_dim = 64;
            grade(bf16, c, 1, Passes::forward, Versions::last);
        },
        [] {
            Call c{{3, 0, 0, 1, 390, 0, 0}};  // tiles as they are found: more of them
            c.head_dim = 64;
            c.mask = HstuMask::local;
            grade(bf16, c, 2, Passes::forward, Versions::last);
            c.lengths = {7, 2};
            c.bias = Bias::positions;
            grade(bf16, c, 3, Passes::forward, Versions::last);
        });
}

TEST_CASE(
    "calls of the same sizes have nothing in common, whichever kernel they take") {
    // Which one it is may depend on the type, the head dimension, the mask, or a bias.
    if (wb::testing::is_watched()) return;
    struct Kernel {
        Types type;
        int64_t head_dim;
        HstuMask mask;
        Bias bias;
    };
    const auto kernel = GENERATE(Kernel{fp32, 32, HstuMask::causal, Bias::none},
                                 Kernel{fp32, 64, HstuMask::local, Bias::both},
                                 Kernel{fp32, 128, HstuMask::full, Bias::times},
                                 Kernel{fp16, 128, HstuMask::causal, Bias::none},
                                 Kernel{fp16, 64, HstuMask::target, Bias::none},
                                 Kernel{fp16, 32, HstuMask::full, Bias::both},
                                 Kernel{bf16, 64, HstuMask::context, Bias::none},
                                 Kernel{bf16, 128, HstuMask::arbitrary, Bias::none},
                                 Kernel{bf16, 256, HstuMask::local, Bias::times});
    Call c{{9, 4}};
    c.head_dim = kernel.head_dim;
    c.mask = kernel.mask;
    c.bias = kernel.bias;
    c.heads = 2;
    wb::testing::expect_independent(
        [&] { grade(kernel.type, c, 1, Passes::both, Versions::last); },
        [&] { grade(kernel.type, c, 2, Passes::both, Versions::last); });
}

TEST_CASE("lists on the host lie where others have lain before") {
    if (wb::testing::is_watched()) return;
    const auto mask = GENERATE(HstuMask::causal, HstuMask::target, HstuMask::arbitrary);
    with_type(
        GENERATE(fp32, bf16),
        [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
            Call c{{100, 100}};
            c.head_dim = 64;
            c.mask = mask;
            HstuProblem p = random_problem<T>(c, 1);
            const auto graded = [&](const std::string& text) {
                const auto last = [&](const std::string& name, auto* contract) {
                    return wb::implementations(name + suffix, contract).back();
                };
                const auto o = last("hstu_attention", forward);
                grade_forward<T>(o.name, o.function, p, expect_forward<T>(p), text);
                const auto d = last("hstu_backward", backward);
                grade_backward<T>(d.name, d.function, p, expect_backward<T>(p), text);
            };
            if (mask == HstuMask::target) p.contexts = {3, 3}, p.targets = {0, 60};
            if (mask == HstuMask::arbitrary) {
                p.intervals.clear();
                for (int32_t i = 0; i < 200; ++i) {
                    p.intervals.push_back(i % 2 == 0 ? 5 : 0);
                    p.intervals.push_back(i % 2 == 0 ? 20 : 5);
                    p.offsets[at(i)] = i;
                }
                p.offsets[200] = 200;
            }
            graded("lengths 100 100");
            if (mask == HstuMask::target) {
                p.contexts[0] = 40;
                graded("contexts 40 3, in the same memory");
                p.targets[0] = 50;
                graded("targets 50 60, in the same memory");
            } else if (mask == HstuMask::arbitrary) {
                p.offsets[8] = 7;
                graded("row 8 has the keys of row 7, too, in the same memory");
                p.intervals[1] = 100;
                graded("row 0 sees all keys, in the same memory");
            } else {
                p.cu_seqlens[1] = 3;
                graded("lengths 3 197, in the same memory");
            }
        });
}

TEST_CASE("the arrays of an earlier call, which was of other sizes") {
    // Nothing belongs to an address: no size, no tensor map.
    const auto type = GENERATE(fp32, fp16, bf16);
    with_type(type, [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
        Call c{{20, 13}};
        c.head_dim = 64;
        c.heads = 2;
        const HstuProblem p = random_problem<T>(c, 1);
        const std::vector<int32_t> starts = {0, 9};
        const auto earlier = [&](Grader& grade, HstuCall<T> call) {
            call.batch = call.heads = 1;
            call.total = 9;
            call.cu_seqlens = {grade.input("starts", starts), starts.data()};
            return call;
        };
        const std::string text = c.text() + ", in the arrays of another call";
        const wb::testing::Shape rows = {33, 2, 64};
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_attention") + suffix, forward)) {
            Grader grade(name, text);
            HstuCall<T> call = call_of<T>(grade, p);
            call.o = grade.output<T>("o", rows);
            const HstuCall<T> before = earlier(grade, call);
            grade.run([&, run = run](cudaStream_t stream) {
                run(before, stream);
                run(call, stream);
            });
            expect(grade, "o", expect_forward<T>(p).o);
        }
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_backward") + suffix, backward)) {
            Grader grade(name, text);
            const HstuCall<T> call = call_of<T>(grade, p);
            HstuGradients<T> out = {};
            out.d_o = grade.input("d_o", stored_as<T>(p.d_o));
            out.dq = grade.output<T>("dq", rows);
            out.dk = grade.output<T>("dk", rows);
            out.dv = grade.output<T>("dv", rows);
            const HstuCall<T> before = earlier(grade, call);
            grade.run([&, run = run](cudaStream_t stream) {
                run(before, out, stream);
                run(call, out, stream);
            });
            const Expected e = expect_backward<T>(p);
            expect(grade, "dq", e.dq);
            expect(grade, "dk", e.dk);
            expect(grade, "dv", e.dv);
        }
    });
}

TEST_CASE("what is read may be one array") {
    // q, k, v and d_o.
    const auto type = GENERATE(fp32, fp16, bf16);
    with_type(type, [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
        Call c{{33, 5}};
        c.head_dim = 64;
        HstuProblem p = random_problem<T>(c, 1);
        p.k = p.v = p.d_o = p.q;
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_attention") + suffix, forward)) {
            Grader grade(name, c.text() + ", q, k and v are one array");
            HstuCall<T> call = call_of<T>(grade, p);
            call.k = call.v = call.q;
            call.o = grade.output<T>("o", {38, 1, 64});
            grade.run([&, run = run](cudaStream_t stream) { run(call, stream); });
            expect(grade, "o", expect_forward<T>(p).o);
        }
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_backward") + suffix, backward)) {
            Grader grade(name, c.text() + ", q, k, v and d_o are one array");
            HstuCall<T> call = call_of<T>(grade, p);
            call.k = call.v = call.q;
            HstuGradients<T> out = {};
            out.d_o = call.q;
            out.dq = grade.output<T>("dq", {38, 1, 64});
            out.dk = grade.output<T>("dk", {38, 1, 64});
            out.dv = grade.output<T>("dv", {38, 1, 64});
            grade.run([&, run = run](cudaStream_t s) { run(call, out, s); });
            const Expected e = expect_backward<T>(p);
            expect(grade, "dq", e.dq);
            expect(grade, "dk", e.dk);
            expect(grade, "dv", e.dv);
        }
    });
}
