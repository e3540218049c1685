// Grades day03-parallel-patterns/05-add-layernorm: what may be fused in which graph.
// [first]: the second stage is given fusion_of().
#include "add_layernorm.h"

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>

#include <random>
#include <string>
#include <vector>

namespace {

using Graph = std::vector<Node>;

const char* name_of(Fusion fusion) {
    if (fusion == Fusion::none) return "none";
    return fusion == Fusion::norm_then_add ? "norm_then_add" : "add_then_norm";
}

/// "0 input, 1 norm(0), 2 other(1), 3 add(0, 2) wanted"
std::string text_of(const Graph& graph) {
    const char* const names[] = {"input", "norm", "add", "other"};
    std::string text;
    for (size_t i = 0; i < graph.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(i) + " " +
                names[static_cast<int>(graph[i].op)];
        if (graph[i].a >= 0) text += "(" + std::to_string(graph[i].a);
        if (graph[i].b >= 0) text += ", " + std::to_string(graph[i].b);
        if (graph[i].a >= 0) text += ")";
        if (graph[i].is_wanted) text += " wanted";
    }
    return text;
}

/// Whether the result of `node` is needed to compute `from`.
bool needs(const Graph& graph, int from, int node) {
    if (from < 0) return false;
    if (from == node) return true;
    const Node& n = graph[static_cast<size_t>(from)];
    return needs(graph, n.a, node) || needs(graph, n.b, node);
}

/// By what a launch is: it begins when all that it reads is there, and leaves what it
/// stores.
Fusion exact(const Graph& graph, int first, int second) {
    const Node& a = graph[static_cast<size_t>(first)];
    const Node& b = graph[static_cast<size_t>(second)];
    if (a.op == Op::add && b.op == Op::norm && b.a == first)
        return Fusion::add_then_norm;
    if (a.op != Op::norm || b.op != Op::add) return Fusion::none;
    const int residual = b.a == first ? b.b : b.a;
    if (b.a != first && b.b != first) return Fusion::none;
    if (needs(graph, residual, first)) return Fusion::none;  // it is not there yet
    bool is_read = a.is_wanted;
    for (int i = 0; i < static_cast<int>(graph.size()); ++i) {
        const Node& n = graph[static_cast<size_t>(i)];
        is_read = is_read || (i != second && (n.a == first || n.b == first));
    }
    return is_read ? Fusion::none : Fusion::norm_then_add;
}

void grade_pair(const Graph& graph, int first, int second, Fusion wanted) {
    wb::testing::Verdict::instance().grades("fusion_of");
    const int count = static_cast<int>(graph.size());
    const Fusion got = wb::testing::result_of(
        [&] { return fusion_of(graph.data(), count, first, second); });
    if (got == wanted) return;
    wb::testing::fail(wb::testing::Kind::check_failed,
                      "fusion_of(): nodes " + std::to_string(first) + " and " +
                          std::to_string(second) + " are " + name_of(wanted) +
                          ", not " + name_of(got),
                      text_of(graph));
}

/// All pairs: `wanted` for one of them, none for the others.
void grade_graph(const Graph& graph, int first, int second, Fusion wanted) {
    const int count = static_cast<int>(graph.size());
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < count; ++b) {
            const bool is_it = a == first && b == second;
            const Fusion right = is_it ? wanted : Fusion::none;
            CHECK(exact(graph, a, b) == right);  // the test's own opinion
            grade_pair(graph, a, b, right);
        }
}

constexpr Node kInput = {Op::input, -1, -1, false};
Node norm(int a, bool is_wanted = false) {
    return {Op::norm, a, -1, is_wanted};
}
Node other(int a) {
    return {Op::other, a, -1, false};
}
Node add(int a, int b, bool is_wanted = false) {
    return {Op::add, a, b, is_wanted};
}

}  // namespace

TEST_CASE("pre-LN: x + attention(LN(x)) has nothing to fuse", "[first]") {
    grade_graph({kInput, norm(0), other(1), add(0, 2, true)}, -1, -1, Fusion::none);
}

TEST_CASE("pre-LN: the add of one sub-layer and the norm of the next", "[first]") {
    grade_graph(
        {kInput, norm(0), other(1), add(0, 2), norm(3), other(4), add(3, 5, true)},
        3,
        4,
        Fusion::add_then_norm);
}

TEST_CASE("post-LN: the norm of the sum, which others may read, too", "[first]") {
    grade_graph(
        {kInput, other(0), add(0, 1), norm(2, true)}, 2, 3, Fusion::add_then_norm);
    grade_graph({kInput, other(0), add(1, 0, true), norm(2), other(3)},
                2,
                3,
                Fusion::add_then_norm);
}

TEST_CASE("a norm behind the sub-layer: x + LN(attention(x))", "[first]") {
    grade_graph(
        {kInput, other(0), norm(1), add(0, 2, true)}, 2, 3, Fusion::norm_then_add);
    grade_graph(
        {kInput, other(0), norm(1), add(2, 0, true)}, 2, 3, Fusion::norm_then_add);
    grade_graph({kInput, norm(0), other(0), add(1, 2, true)},  // not neighbours
                1,
                3,
                Fusion::norm_then_add);
}

TEST_CASE("a norm whose result is needed elsewhere cannot stay in registers",
          "[first]") {
    // The residual is made of it.
    grade_graph({kInput, norm(0), other(1), add(1, 2, true)}, -1, -1, Fusion::none);
    // A later operation reads it.
    grade_graph(
        {kInput, kInput, norm(0), add(1, 2), other(2), other(3)}, -1, -1, Fusion::none);
    // Another block does.
    grade_graph({kInput, kInput, norm(0, true), add(1, 2)}, -1, -1, Fusion::none);
    // LN(x) + LN(x)
    grade_graph({kInput, norm(0), add(1, 1, true)}, -1, -1, Fusion::none);
}

TEST_CASE("a parallel residual: the second sum and the norm of the next block",
          "[first]") {
    grade_graph({kInput,
                 norm(0),
                 norm(0),
                 other(1),
                 other(2),
                 add(0, 3),
                 add(5, 4, true),
                 norm(6)},
                6,
                7,
                Fusion::add_then_norm);
}

TEST_CASE("random graphs, all pairs", "[first]") {
    std::mt19937 random(7);
    const auto below = [&](int limit) {
        return static_cast<int>(random() % static_cast<unsigned>(limit));
    };
    for (int repeat = 0; repeat < 300; ++repeat) {
        Graph graph = {kInput, kInput};
        const int count = 3 + below(6);
        while (static_cast<int>(graph.size()) < count) {
            const int before = static_cast<int>(graph.size());
            const auto op = static_cast<Op>(1 + below(3));
            const int b = op == Op::norm || below(3) == 0 ? -1 : below(before);
            const bool needs_two = op == Op::add && b < 0;
            graph.push_back({op, below(before), needs_two ? 0 : b, below(5) == 0});
        }
        for (int a = 0; a < count; ++a)
            for (int b = 0; b < count; ++b)
                grade_pair(graph, a, b, exact(graph, a, b));
    }
}

TEST_CASE("places that are none of the graph's are refused", "[first]") {
    const Graph graph = {kInput, norm(0)};
    const auto refuse = [&](const char* part, int count, int first, int second) {
        wb::testing::expect_refused("fusion_of", part, part, [&] {
            (void)fusion_of(graph.data(), count, first, second);
        });
    };
    refuse("first is -1", 2, -1, 1);
    refuse("first is 2", 2, 2, 1);
    refuse("second is -3", 2, 0, -3);
    refuse("second is 1", 1, 0, 1);
    refuse("first is 0", 0, 0, 0);
    wb::testing::expect_refused("fusion_of", "no nodes", "nodes is 0", [&] {
        (void)fusion_of(nullptr, 2, 0, 1);
    });
}
