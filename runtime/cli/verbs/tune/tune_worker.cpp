#include "runtime/cli/verbs/tune/tune_worker.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/judge/checked_workload.h"
#include "runtime/judge/table_check.h"
#include "runtime/measure/tune/meter.h"
#include "runtime/measure/tune/tune_workload.h"
#include "runtime/measure/tune/worker.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"

namespace segfold::cli {
namespace {

std::string greeting_of(const TuningRecord& record, const Problem& problem, double ceiling)
{
    const auto& target = problem.target;
    return Json{{"record", print(record)},
                {"target",
                 {target.has_async_copies, target.has_bf16_conversions, target.block_shared_bytes,
                  target.compute_capability, target.has_f16_conversions}},
                {"ceiling", ceiling},
                {"laws",
                 {problem.laws.associative, problem.laws.commutative, problem.laws.idempotent,
                  problem.laws.assumes_associative}}}
        .dump();
}

void serve_device(const Arguments& arguments, const Operator& op, const WorkloadRequest& request)
{
    Session session(timed_backend_argument(arguments), session_options(arguments, op));
    auto& backend = core(session).backend();
    const auto prepared = make_checked_workload(op, request);
    check_tables(prepared.workload);  // throws here, because otherwise every plan would fail
    const auto laws = core(session).laws(prepared.workload);
    require_sound_identity(laws, op);
    auto problem = make_problem(prepared.workload, laws);
    problem.target = backend.target();
    tune::PlanMeter meter(backend, problem, prepared.workload, core(session).catalogue());
    const auto greeting =
        greeting_of(tune::record_of(backend.identity().value_or(DeviceIdentity()), meter.facts(), problem,
                                    prepared.workload, print(request.layout)),
                    problem, meter.ceiling());
    tune::serve(
        meter, greeting, std::cin, [](std::string_view text) { write_document(text); },
        [&] { return meter.is_fit(); });
}

}  // namespace

int serve_plans(const Arguments& arguments, const Operator& op, const WorkloadRequest& request)
{
    // Sends errors to the tuner through the protocol, because nobody reads the worker's standard error.
    try {
        serve_device(arguments, op, request);
    } catch (const Error& error) {
        write_document(tune::refusal_line(error.what(), error.exit_code()));
        return error.exit_code();
    }
    return 0;
}

TuneGreeting parse_greeting(const std::string& line)
{
    try {
        const auto document = read_json("greeting", line);
        const JsonValue greeting("greeting", document);
        const auto target = greeting.at("target").elements();
        const auto laws = greeting.at("laws").elements();
        constexpr std::size_t kMembers = 5, kLaws = 4;
        if (target.size() != kMembers)
            greeting.at("target").refuse("a list of 5 is needed");
        if (laws.size() != kLaws)
            greeting.at("laws").refuse("a list of 4 is needed");
        return {
            parse_record("worker", greeting.at("record").text()),
            {target[0].truth(), target[1].truth(), target[2].integer(), target[3].small(), target[4].truth()},
            greeting.at("ceiling").number(),
            {laws[0].truth(), laws[1].truth(), laws[2].truth(), laws[3].truth()}};
    } catch (const InputError& error) {
        throw InternalError(fmt::format("a worker greets with '{}': {}", line.substr(0, 80), error.what()));
    }
}

}  // namespace segfold::cli
