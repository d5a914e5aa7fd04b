#pragma once
// The one header of segfold: operators, sessions, folds, plans, benches, tuning.
//
//     segfold::Session session;
//     auto folded = session.fold(op, {values}, segfold::offsets(ends));   // host spans in, results out
//     auto plan = session.plan(op, segments, num_elements);               // compiled once; device pointers
//     auto tuned = segfold::tune_workload(session, op, {values}, segfold::offsets(ends));
//     segfold::fold_stream(session, op, {StreamArray::file("x.npy")}, ...);   // more than memory holds
//     auto backward = segfold::gradient(op, "x");                         // operators of the gradient
//     auto laws = session.prove(op);                                      // verdict, means and time of each
//     auto times = segfold::bench_workload(session, op, {values}, segfold::offsets(ends));
//
// Link with segfold::segfold. Errors are the classes of dsl/error.h: SpecError for what is wrong with an
// operator, InputError for arrays and options, DeviceError for device, driver and compilers, InternalError
// for a fault of segfold's own.
#include "dsl/cpp/define.h"
#include "dsl/error.h"
#include "dsl/rewrite/gradient/gradient.h"
#include "dsl/rewrite/scanned.h"
#include "dsl/text/parser.h"
#include "dsl/text/product.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/array_source.h"
#include "runtime/data/formats/operator_file.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/measure/bench/workloads/bench_workload.h"
#include "runtime/measure/tune/tune_workload.h"
#include "runtime/scale/fold_stream.h"
#include "runtime/session/session.h"
