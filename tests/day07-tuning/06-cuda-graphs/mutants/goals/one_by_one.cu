// Mutant: right, but without a graph
// Rejected by: a graph is instantiated once
#include "../layers.h"

class MutantStepper : public Stepper {
 public:
    explicit MutantStepper(const Decoder& decoder) : decoder_(decoder) {}

    void step(int position, cudaStream_t stream) override {
        check_position(decoder_, position);
        launch_step(decoder_, position, stream);
    }

 private:
    Decoder decoder_;
};

std::unique_ptr<Stepper> make_stepper(const Decoder& decoder) {
    return std::make_unique<MutantStepper>(decoder);
}
