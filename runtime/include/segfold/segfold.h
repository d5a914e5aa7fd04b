#pragma once
// The only header that users of segfold include: operators, sessions, folds, plans, benches, tuning.
//
//     segfold::Session session;
//     auto folded = session.fold(op, {values}, segfold::offsets(ends));   // takes spans, returns results
//     auto plan = session.plan(op, segments, num_elements);               // compiles once; runs often
//     auto tuned = segfold::tune_workload(session, op, {values}, segfold::offsets(ends));
//     segfold::fold_stream(session, op, {StreamArray::file("x.npy")}, ...);   // data beyond memory
//     auto backward = segfold::gradient(op, "x");                         // gradient, as operators
//     auto laws = session.prove(op);                                      // verdict on each law
//     auto times = segfold::bench_workload(session, op, {values}, segfold::offsets(ends));
//     segfold::export_plans("plans.zip", {{op}}, {.architectures = {"sm_90"}});  // for others' GPUs
//
// Link with segfold::segfold. Errors are the classes of dsl/error.h: SpecError for faults of an operator,
// InputError for arrays and options, DeviceError for device, driver and compilers, InternalError for faults
// of segfold itself.
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
