#pragma once
// The only header that users of segfold need to include.
//
//     segfold::Session session;
//     auto folded = session.fold(op, {values}, segfold::offsets(ends));   // returns the results
//     auto plan = session.plan(op, segments, num_elements);               // compiled once, runs often
//     auto tuned = segfold::tune_workload(session, op, {values}, segfold::offsets(ends));
//     segfold::fold_stream(session, op, {StreamArray::file("x.npy")}, ...);   // larger than memory
//     auto backward = segfold::gradient(op, "x");                         // operators of the gradient
//     auto laws = session.prove(op);                                      // verdict on each law
//     auto times = segfold::bench_workload(session, op, {values}, segfold::offsets(ends));
//     segfold::export_plans("plans.zip", {{op}}, {.architectures = {"sm_90"}});  // compiles for other GPUs
//
// Link with segfold::segfold. Functions throw the classes of dsl/error.h: SpecError for wrong operators,
// InputError for wrong arrays and options, DeviceError for failures of the device, driver or compilers, and
// InternalError for bugs of segfold.
#include "dsl/cpp/define.h"
#include "dsl/derived.h"
#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/array_source.h"
#include "runtime/data/formats/operator_file.h"
#include "runtime/laws/judged_laws.h"
#include "runtime/measure/bench/workloads/bench_workload.h"
#include "runtime/measure/tune/tune_workload.h"
#include "runtime/scale/fold_stream.h"
#include "runtime/session/session.h"
#include "runtime/session/shipped/shipped_plans.h"
