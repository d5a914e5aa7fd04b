#pragma once
// Functors that run an operator's byte code inside Thrust. nvcc compiles them for a GPU, and the C++ compiler
// for the host. They share no code with the code generator.
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

/// The first read past a table's end. `taken` is 1 once a thread has recorded one.
struct FailureCell {
    int taken;
    Outcome outcome;
};

/// A job in memory of the Thrust system. Functors have a pointer to it.
struct JobView {
    ProgramView lift, combine, finish, scan;
    bool scans_reversely;
    int state_fields;
    int num_columns;
    int num_results;
    const void* const* columns;
    const Type* column_types;
    const TableView* tables;
    const std::int64_t* starts;
    const std::int64_t* begins;    ///< first element of each run in the columns; null: same as `starts`
    const std::int64_t* segments;  ///< segment of each run; null: 0, 1, 2, ...
    void* const* results;
    const Type* result_types;
    int num_outputs;
    void* const* outputs;
    const Type* output_types;
    const Slot<double>* identity;  ///< the operator's identity
    std::int64_t num_elements;     ///< number of elements in all runs
    FailureCell* failure;

    /// Returns the element that a scan visits at step `step`. Elements are numbered over all runs.
    [[nodiscard]] SEGFOLD_EVERYWHERE std::int64_t visited(std::int64_t step) const
    {
        return scans_reversely ? num_elements - 1 - step : step;
    }

    [[nodiscard]] SEGFOLD_EVERYWHERE std::int64_t segment_of(std::int64_t run) const
    {
        return segments ? segments[run] : run;
    }
};

/// A state with at most `num_fields` fields.
template <int num_fields>
struct FlatState {
    Slot<double> fields[num_fields];
};

/// Stores `outcome`, unless a thread has already stored an outcome.
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

/// Stores the constants in their slots and runs a block. The caller must have stored the block's inputs in
/// their slots.
SEGFOLD_EVERYWHERE SEGFOLD_CALLED inline void interpret(const ProgramView& program, const JobView& job,
                                                        Slot<double>* slots)
{
    for (int i = 0; i < program.num_presets; ++i)
        slots[program.presets[i].slot] = program.presets[i].value;
    const Outcome outcome = Machine<double>::run(program.code, program.num_instructions, slots, job.tables);
    if (outcome.failed)
        write_down(*job.failure, outcome);
}

// The functions below are not inlined. Each has kMaxThrustSlots slots, and Thrust's kernels lift and combine
// in dozens of places.

/// Lifts element `place`. Elements are numbered over all runs.
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

/// Writes the result of a run to the entry of its segment in the result arrays.
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

/// Writes the outputs of element `place`. Elements are numbered over all runs.
SEGFOLD_EVERYWHERE SEGFOLD_CALLED inline void scan_element(const JobView& job, std::int64_t run,
                                                           std::int64_t place, const Slot<double>* before,
                                                           const Slot<double>* through)
{
    const std::int64_t position = place - job.starts[run];
    const std::int64_t index = job.begins ? job.begins[run] + position : place;
    Slot<double> slots[kMaxThrustSlots];
    int at = 0;
    for (int f = 0; f < job.state_fields; ++f)
        slots[at++] = before[f];
    for (int f = 0; f < job.state_fields; ++f)
        slots[at++] = through[f];
    for (int c = 0; c < job.num_columns; ++c)
        Machine<double>::load(slots[at++], job.column_types[c], job.columns[c], index);
    slots[at++].bits = static_cast<std::uint64_t>(index);
    slots[at++].bits = static_cast<std::uint64_t>(position);
    slots[at++].bits = static_cast<std::uint64_t>(job.segment_of(run));
    interpret(job.scan, job, slots);
    for (int o = 0; o < job.num_outputs; ++o)
        Machine<double>::store(slots[job.scan.outputs[o]], job.output_types[o], job.outputs[o], index);
}

template <int num_fields>
struct Lift {
    const JobView* job;
    const std::int64_t* keys;  ///< number of each element's run

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

/// Returns the run of the element that a scan visits at step `step`.
struct VisitedRun {
    const JobView* job;
    const std::int64_t* keys;

    SEGFOLD_EVERYWHERE std::int64_t operator()(std::int64_t step) const { return keys[job->visited(step)]; }
};

/// A state, or no state. "No state" is the identity of Join, even if the operator has no identity.
template <int num_fields>
struct SomeState {
    FlatState<num_fields> state;
    bool is_none;
};

template <int num_fields>
struct LiftVisited {
    const JobView* job;
    const std::int64_t* keys;

    SEGFOLD_EVERYWHERE SomeState<num_fields> operator()(std::int64_t step) const
    {
        SomeState<num_fields> some{};
        const std::int64_t place = job->visited(step);
        lift_element(*job, keys[place], place, some.state.fields);
        return some;
    }
};

/// Combines states in the order of the elements. A reverse scan visits later elements first, so its
/// operands are swapped.
template <int num_fields>
struct Join {
    const JobView* job;

    SEGFOLD_EVERYWHERE SomeState<num_fields> operator()(const SomeState<num_fields>& visited,
                                                        const SomeState<num_fields>& next) const
    {
        if (visited.is_none)
            return next;
        if (next.is_none)
            return visited;
        SomeState<num_fields> both{};
        const auto* earlier = job->scans_reversely ? &next : &visited;
        const auto* later = job->scans_reversely ? &visited : &next;
        combine_states(*job, earlier->state.fields, later->state.fields, both.state.fields);
        return both;
    }
};

/// Writes the outputs of the element that a scan visits at step `step`. `before` is null if the scan does not
/// read the state before an element.
template <int num_fields>
struct ScanVisited {
    const JobView* job;
    const std::int64_t* keys;
    const SomeState<num_fields>* before;
    const SomeState<num_fields>* through;

    SEGFOLD_EVERYWHERE void operator()(std::int64_t step) const
    {
        const std::int64_t place = job->visited(step);
        const auto* own = through[step].state.fields;
        const auto* earlier = before == nullptr      ? own
                              : before[step].is_none ? job->identity
                                                     : before[step].state.fields;
        scan_element(*job, keys[place], place, earlier, own);
    }
};

}  // namespace segfold
