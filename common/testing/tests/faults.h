/// faults.h: a small wrong kernel for each kind of finding of the simulator's.
#pragma once

namespace wb::testing {

// Each launches its kernel and waits for it; errors are left unseen.
void make_none();
void make_race();
void make_out_of_bounds();
void make_use_after_free();
void make_uninitialised();
void make_misaligned();
void make_host_pointer();
void make_device_pointer_on_host();
void make_divergent_barrier();
void make_missing_lanes();
void make_deadlock();
void make_hang();
void make_refused_launch();
void make_assertion();
void make_fault();

}  // namespace wb::testing
