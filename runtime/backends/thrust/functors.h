#pragma once
// Functors that run an operator's byte code inside Thrust. nvcc compiles them for a GPU, the C++ compiler for
// the host. They share no code with the code generator.
#include <cstdint>

#include "runtime/backends/thrust/job.h"
#include "runtime/backends/thrust/reduce_by_key.h"

#ifdef __CUDACC__
#define SEGFOLD_EVERYWHERE __host__ __device__
#define SEGFOLD_CALLED __noinline__
#else
#define SEGFOLD_EVERYWHERE
#define SEGFOLD_CALLED
#endif

namespace segfold {

/// The byte code of one block, in memory of the Thrust system.
struct ProgramView {
    const Instruction* code;
    const PresetSlot* presets;
    const std::uint16_t* outputs;
    int num_instructions;
    int num_presets;
};

/// Records the first table read outside of its length.
struct FailureCell {
    int taken;
    Outcome outcome;
};

/// A job in memory of the Thrust system. Functors hold a pointer to it.
struct JobView {
    ProgramView lift, combine, finish;
    int state_fields;
    int num_columns;
    int num_results;
    const void* const* columns;
    const Type* column_types;
    const TableView* tables;
    const std::int64_t* starts;
    const std::int64_t* begins;    ///< null: the same as starts
    const std::int64_t* segments;  ///< null: 0, 1, 2, ...
    void* const* results;
    const Type* result_types;
    FailureCell* failure;

    [[nodiscard]] SEGFOLD_EVERYWHERE std::int64_t segment_of(std::int64_t run) const
    {
        return segments ? segments[run] : run;
    }
};

/// A state of at most `num_fields` fields.
template <int num_fields>
struct FlatState {
    Slot<double> fields[num_fields];
};

/// Records the first of several outcomes that threads write at the same time.
SEGFOLD_EVERYWHERE inline void write_down(FailureCell& cell, const Outcome& outcome)
{
#ifdef __CUDA_ARCH__
    const bool first = atomicCAS(&cell.taken, 0, 1) == 0;
#else
    const bool first = __atomic_exchange_n(&cell.taken, 1, __ATOMIC_RELAXED) == 0;
#endif
    if (first)
        cell.outcome = outcome;
}

/// Sets the constants and runs a block. The slots must already hold the block's inputs.
SEGFOLD_EVERYWHERE SEGFOLD_CALLED inline void interpret(const ProgramView& program, const JobView& job,
                                                        Slot<double>* slots)
{
    for (int i = 0; i < program.num_presets; ++i)
        slots[program.presets[i].slot] = program.presets[i].value;
    const Outcome outcome = Machine<double>::run(program.code, program.num_instructions, slots, job.tables);
    if (outcome.failed)
        write_down(*job.failure, outcome);
}

// The three functions below are not inlined: each holds kMaxThrustSlots slots, and Thrust's kernels lift and
// combine in dozens of places.

/// Lifts the element at `place`, counted over the elements of all runs.
SEGFOLD_EVERYWHERE SEGFOLD_CALLED inline void lift_element(const JobView& job, std::int64_t run,
                                                           std::int64_t place, Slot<double>* state)
{
    const std::int64_t position = place - job.starts[run];
    const std::int64_t index = job.begins ? job.begins[run] + position : place;
    Slot<double> slots[kMaxThrustSlots];
    const int n = job.num_columns;
    for (int c = 0; c < n; ++c)
        Machine<double>::load(slots[c], job.column_types[c], job.columns[c], index);
    slots[n].bits = static_cast<std::uint64_t>(index);
    slots[n + 1].bits = static_cast<std::uint64_t>(position);
    slots[n + 2].bits = static_cast<std::uint64_t>(job.segment_of(run));
    interpret(job.lift, job, slots);
    for (int f = 0; f < job.state_fields; ++f)
        state[f] = slots[job.lift.outputs[f]];
}

SEGFOLD_EVERYWHERE SEGFOLD_CALLED inline void combine_states(const JobView& job, const Slot<double>* earlier,
                                                             const Slot<double>* later, Slot<double>* state)
{
    Slot<double> slots[kMaxThrustSlots];
    const int n = job.state_fields;
    for (int f = 0; f < n; ++f) {
        slots[f] = earlier[f];
        slots[n + f] = later[f];
    }
    interpret(job.combine, job, slots);
    for (int f = 0; f < n; ++f)
        state[f] = slots[job.combine.outputs[f]];
}

/// Writes the result of a run to its segment's place in the result arrays.
SEGFOLD_EVERYWHERE SEGFOLD_CALLED inline void finish_run(const JobView& job, std::int64_t run,
                                                         const Slot<double>* state)
{
    const std::int64_t segment = job.segment_of(run);
    Slot<double> slots[kMaxThrustSlots];
    const int n = job.state_fields;
    for (int f = 0; f < n; ++f)
        slots[f] = state[f];
    slots[n].bits = static_cast<std::uint64_t>(segment);
    slots[n + 1].bits = static_cast<std::uint64_t>(job.starts[run + 1] - job.starts[run]);
    interpret(job.finish, job, slots);
    for (int r = 0; r < job.num_results; ++r)
        Machine<double>::store(slots[job.finish.outputs[r]], job.result_types[r], job.results[r], segment);
}

template <int num_fields>
struct Lift {
    const JobView* job;
    const std::int64_t* keys;  ///< the run of each element

    SEGFOLD_EVERYWHERE FlatState<num_fields> operator()(std::int64_t place) const
    {
        FlatState<num_fields> state{};
        lift_element(*job, keys[place], place, state.fields);
        return state;
    }
};

/// The associative operation. Thrust calls it with the earlier operand on the left.
template <int num_fields>
struct Combine {
    const JobView* job;

    SEGFOLD_EVERYWHERE FlatState<num_fields> operator()(const FlatState<num_fields>& earlier,
                                                        const FlatState<num_fields>& later) const
    {
        FlatState<num_fields> state{};
        combine_states(*job, earlier.fields, later.fields, state.fields);
        return state;
    }
};

template <int num_fields>
struct Finish {
    const JobView* job;
    const FlatState<num_fields>* states;

    SEGFOLD_EVERYWHERE void operator()(std::int64_t run) const { finish_run(*job, run, states[run].fields); }
};

}  // namespace segfold
