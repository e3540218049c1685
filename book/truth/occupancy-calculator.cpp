// occupancy-calculator.cpp: how many blocks fit, by the solution of day 7's chapter
// about occupancy. For the figure <OccupancyCalculator />.
#include <json.h>
#include <occupancy_and_ilp.h>

#include <cstdint>
#include <cstdlib>

using truth::Json;

static const char* name_of(Limiter limiter) {
    constexpr const char* kNames[] = {"warps", "slots", "registers", "shared"};
    return kNames[static_cast<int>(limiter)];
}

static void write_occupancy(Json* json, const Multiprocessor& sm, const Needs& needs) {
    const Limits limits = block_limits(sm, needs);
    const Occupancy result = occupancy(sm, needs);
    json->open('[');
    for (const int64_t number : {int64_t{sm.arch},
                                 int64_t{needs.threads},
                                 int64_t{needs.registers},
                                 needs.shared_bytes,
                                 int64_t{limits.warps},
                                 int64_t{limits.slots},
                                 int64_t{limits.registers},
                                 int64_t{limits.shared},
                                 int64_t{result.blocks},
                                 int64_t{result.warps}}) {
        json->value(number);
    }
    json->value(name_of(result.limiter)).close(']');
}

int main() {
    Json json;
    json.open('{').key("multiprocessors").open('[');
    for (const Multiprocessor& sm : kMultiprocessors) {
        json.open('[').value(sm.arch).value(sm.warps).value(sm.blocks);
        json.value(sm.shared_bytes).value(sm.shared_unit).value(sm.shared_reserved);
        json.close(']');
    }
    json.close(']').key("occupancies").open('[');
    for (const Multiprocessor& sm : kMultiprocessors) {
        for (const int threads : {32, 96, 100, 128, 256, 1024}) {
            for (const int registers : {1, 32, 33, 72, 97, 255}) {
                const int64_t shared = 37 * threads * registers % 50'000;
                write_occupancy(&json, sm, {threads, registers, 0});
                write_occupancy(&json, sm, {threads, registers, shared});
            }
        }
    }
    json.close(']').key("budgets").open('[');
    for (const Multiprocessor& sm : kMultiprocessors) {
        for (const int threads : {32, 96, 256, 512}) {
            const Limits most = block_limits(sm, {threads, 1, 0});
            for (int blocks = 1; blocks <= most.warps && blocks <= most.slots;
                 blocks += 2) {
                const Budget left = budget(sm, threads, blocks);
                json.open('[').value(sm.arch).value(threads).value(blocks);
                json.value(left.registers).value(left.shared_bytes).close(']');
            }
        }
    }
    json.close(']').close('}').print();
    return EXIT_SUCCESS;
}
