// wb_ceilings: measures all ceilings of this GPU, prints them, and stores them for
// ./learn bench and ./learn xray.
//
//     wb_ceilings [FILE]
#include <wb/bench/report.h>
#include <wb/bench/stored_ceilings.h>

#include <cstdio>
#include <exception>
#include <string>

namespace wb::bench {
namespace {

constexpr int kWrongUsage = 2;

const char* meaning_of(Ceiling ceiling) {
    switch (ceiling) {
        case Ceiling::read:
            return "everything is read, nothing written: a sum";
        case Ceiling::write:
            return "a fill";
        case Ceiling::copy:
            return "one read, one write; both count";
        case Ceiling::read2_write1:
            return "c = a + b";
        case Ceiling::fp32:
            return "matrix product in float, without tensor cores";
        case Ceiling::tf32:
            return "tensor cores: float rounded to TF32";
        case Ceiling::fp16:
            return "tensor cores: half, sums in float";
        case Ceiling::bf16:
            return "tensor cores: bfloat16, sums in float";
    }
    return "";
}

int measure_all(const std::string& path) {
    const Machine machine = describe_machine();
    if (machine.simulated) {
        std::fputs(
            "no GPU: there is nothing whose ceilings could be measured (the "
            "simulator's times mean nothing)\n",
            stderr);
        return 1;
    }
    Timer timer(flush_bytes(machine), Budget{});
    Ceilings ceilings(timer, ceiling_bytes());
    std::printf("%s, %s\n", machine.gpu.c_str(), machine.arch.c_str());
    for (int i = 0; i <= static_cast<int>(Ceiling::bf16); ++i) {
        const auto ceiling = static_cast<Ceiling>(i);
        const std::string name = name_of(ceiling);
        double value = 0.0;
        std::string why_not = "this program was built without cuBLAS";
        try {
            value = ceilings.get(ceiling);
        } catch (const std::exception& error) {  // no bfloat16 before sm_80
            why_not = error.what();
        }
        if (value > 0.0) {
            std::printf("  %-18s %8.1f %-8s %s\n",
                        name.c_str(),
                        value,
                        unit_of(ceiling),
                        meaning_of(ceiling));
        } else {
            std::printf("  %-18s not measured: %s\n", name.c_str(), why_not.c_str());
        }
        std::fflush(stdout);
    }
    const double floor_us = timer.floor_us();
    std::printf("  %-18s %8.2f us       an empty kernel between two events\n",
                "launch",
                floor_us);
    if (!path.empty()) {
        write_ceilings(path,
                       machine,
                       read_nvidia_smi(machine.pci_bus_id),
                       ceilings.measured(),
                       floor_us);
    }
    return 0;
}

}  // namespace
}  // namespace wb::bench

int main(int argc, char** argv) {
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        std::fputs("usage: wb_ceilings [FILE.json]\n", stderr);
        return wb::bench::kWrongUsage;
    }
    try {
        return wb::bench::measure_all(argc == 2 ? argv[1] : "");
    } catch (const std::exception& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
