// Binds functions for laws, tuning and devices.
#include "runtime/python/bind/verbs.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "dsl/derived.h"
#include "dsl/error.h"
#include "dsl/rewrite/index_column.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/measure/bench/workloads/bench_workload.h"
#include "runtime/measure/charts/bench_chart.h"
#include "runtime/measure/tune/tune_workload.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/session/core.h"
#include "runtime/session/shipped/shipped_plans.h"

namespace segfold::python {
namespace {

nb::object number_of(const FieldValue& value)
{
    if (value.type == Type::boolean)
        return nb::bool_(value.bits != 0);
    if (is_float(value.type))
        return nb::float_(value.real);
    if (is_signed_integer(value.type))
        return nb::int_(static_cast<std::int64_t>(value.bits));
    return nb::int_(value.bits);
}

/// Returns a dictionary of field names and values, in the order of the state's fields.
nb::dict state_of(const Operator& op, const std::vector<FieldValue>& fields)
{
    nb::dict state;
    for (std::size_t i = 0; i < fields.size(); ++i)
        state[op.state[i].name.c_str()] = number_of(fields[i]);
    return state;
}

nb::dict element_of(const Operator& op, const std::vector<FieldValue>& values)
{
    nb::dict element;
    std::size_t column = 0;
    for (const auto& parameter : op.parameters)
        if (!parameter.table && column < values.size())
            element[parameter.name.c_str()] = number_of(values[column++]);
    return element;
}

nb::dict finding_of(const LawFinding& finding, const Operator& op)
{
    nb::dict facts;
    facts["law"] = std::string(name(finding.law));
    facts["verdict"] = std::string(name_of_verdict(finding));
    facts["means"] = std::string(name(finding.means));
    facts["seconds"] = finding.seconds;
    facts["invariants"] = finding.invariants;
    facts["unproved"] = finding.unproved;
    facts["holds_without_overflow"] = finding.holds_without_overflow;
    facts["cases"] = finding.cases;
    facts["spread"] = finding.spread;
    facts["text"] = print(finding, op);
    facts["counter_example"] = nb::none();
    if (!finding.counter_example)
        return facts;
    const auto& example = *finding.counter_example;
    nb::list states, elements;
    for (const auto& state : example.states) {
        states.append(state_of(op, state.fields));
        nb::list made_of;
        for (const auto& element : state.elements)
            made_of.append(element_of(op, element));
        elements.append(nb::tuple(made_of));
    }
    nb::dict shown;
    shown["states"] = nb::tuple(states);
    shown["elements"] = nb::tuple(elements);
    nb::dict scalars;
    for (const auto& [name, value] : example.scalars)
        scalars[name.c_str()] = number_of(value);
    shown["scalars"] = scalars;
    shown["left_side"] = example.left_side;
    shown["right_side"] = example.right_side;
    shown["left"] = state_of(op, example.left);
    shown["right"] = state_of(op, example.right);
    shown["text"] = example.text;
    facts["counter_example"] = shown;
    return facts;
}

constexpr double kMostProofSeconds = 86400;

nb::tuple check(const PyOperator& op, nb::handle seconds_word, nb::handle cases_word, nb::handle seed_word,
                nb::handle prove_word)
{
    constexpr auto kSeconds = "a number of seconds";
    const auto seconds = value_of<double>("seconds", seconds_word, kSeconds);
    const auto cases = value_of<std::int64_t>("cases", cases_word, "the number of cases of each law at most");
    const auto seed = value_of<std::uint64_t>("seed", seed_word, "a number that is not negative");
    const auto prove = value_of<double>("prove", prove_word, kSeconds);
    struct Search {
        Operator op;
        LawReport report;
    };
    const auto search = std::make_shared<Search>(Search{op.fixed().op, {}});
    std::vector<ArrayIn> none;
    const prove::ProofOptions proof{.seconds = std::min(prove, kMostProofSeconds)};
    run_interruptible(
        [search, seconds, cases, seed, proof] {
            search->report = judge_laws(search->op, {cases, seconds, seed}, {}, &proof).report;
        },
        none);
    const auto facts_of = [&](const std::vector<LawFinding>& list) {
        nb::list findings;
        for (const auto& finding : list)
            findings.append(finding_of(finding, search->op));
        return nb::tuple(findings);
    };
    return nb::make_tuple(facts_of(search->report.findings), facts_of(search->report.undeclared),
                          search->report.prover);
}

bool is_operand(const Expression& value, Operand operand)
{
    return value->kind == ExpressionKind::field && value->operand == operand;
}

/// Returns the names of the columns if an operator sums one column or the products of two columns. Otherwise
/// returns None.
nb::object factors_of_sum(const PyOperator& py_op)
{
    const auto& op = py_op.fixed().op;
    const auto column = [&](const Expression& value) {
        return value->kind == ExpressionKind::name &&
               std::ranges::any_of(op.parameters, [&](const auto& parameter) {
                   return parameter.name == value->name && !parameter.table && is_float(parameter.type);
               });
    };
    if (op.state.size() != 1 || !op.has_identity() || !op.outputs.empty() || op.finish || op.empty ||
        !op.combine.lets.empty() || !op.lift.lets.empty())
        return nb::none();
    const auto& sum = op.combine.assignments.front().value;
    const auto& lifted = op.lift.assignments.front().value;
    if (sum->kind != ExpressionKind::binary || sum->symbol != "+" ||
        !is_operand(sum->arguments[0], Operand::earlier) || !is_operand(sum->arguments[1], Operand::later))
        return nb::none();
    if (column(lifted))
        return nb::make_tuple(lifted->name);
    if (lifted->kind == ExpressionKind::binary && lifted->symbol == "*" && column(lifted->arguments[0]) &&
        column(lifted->arguments[1]))
        return nb::make_tuple(lifted->arguments[0]->name, lifted->arguments[1]->name);
    return nb::none();
}

/// Returns the gradient of an operator with fixed types by a column. The tuple holds the method, the name of
/// the gradient, the results whose gradients are inputs, the names of these gradients, and the operators.
nb::tuple gradient_of(const PyOperator& op, const std::string& column)
{
    const auto found = segfold::gradient(op.fixed().op, column);
    const auto tuple_of = [](const std::vector<std::string>& names) {
        nb::list list;
        for (const auto& name : names)
            list.append(name);
        return nb::tuple(list);
    };
    nb::list operators;
    for (const auto& step : found.operators)
        operators.append(PyOperator(step));
    return nb::make_tuple(found.means, found.result, tuple_of(found.of), tuple_of(found.names),
                          nb::tuple(operators));
}

/// True if the gradient by the parameter is 0 everywhere. The results then change with the parameter only in
/// steps, or not at all.
bool has_zero_gradient(const PyOperator& op, const std::string& parameter)
{
    try {
        (void)segfold::gradient(op.fixed().op, parameter);
    } catch (const ZeroGradient&) {
        return true;
    }
    return false;
}

/// The indices and table entries that an operator reads.
struct PlaceReads {
    bool index = false;                ///< true if `index` is read
    bool segment = false;              ///< true if `segment` is read other than as a table index
    std::set<std::string> by_segment;  ///< tables read at [segment]
    std::set<std::string> elsewhere;   ///< tables read at other indices
    std::set<const ExpressionNode*> seen = {};

    void add(const Expression& value)
    {
        if (!seen.insert(&*value).second)
            return;
        const auto is_name = [](const Expression& of, std::string_view name) {
            return of->kind == ExpressionKind::name && of->name == name;
        };
        index = index || is_name(value, "index");
        segment = segment || is_name(value, "segment");
        if (value->kind == ExpressionKind::gather) {
            const bool is_by_segment = is_name(value->arguments[0], "segment");
            (is_by_segment ? by_segment : elsewhere).insert(value->name);
            if (is_by_segment)
                return;
        }
        for (const auto& argument : value->arguments)
            add(argument);
    }
    void add(const Block& block)
    {
        for (const auto& let : block.lets)
            add(let.value);
        for (const auto& assignment : block.assignments)
            add(assignment.value);
    }
};

/// Returns a tuple with three items: whether the operator reads `index`; whether it reads `segment` other
/// than as a table index; the tables that it reads only at [segment].
nb::tuple places_read(const PyOperator& py_op)
{
    const auto& op = py_op.fixed().op;
    PlaceReads reads;
    reads.add(op.lift);
    reads.add(op.combine);
    for (const auto* block : {&op.append, &op.finish, &op.empty, &op.map})
        if (*block)
            reads.add(**block);
    if (op.scan)
        reads.add(op.scan->block);
    nb::list tables;
    for (const auto& table : reads.by_segment)
        if (!reads.elsewhere.contains(table))
            tables.append(table);
    return nb::make_tuple(reads.index, reads.segment, nb::tuple(tables));
}

nb::dict tune(PyOperator& op, const nb::args& arrays, const nb::kwargs& words)
{
    TuneOptions options;
    if (words.contains("seconds"))
        options.seconds = value_of<double>("seconds", words["seconds"], "a number of seconds");
    if (words.contains("evaluations"))
        options.evaluations = value_of<std::int64_t>("evaluations", words["evaluations"],
                                                     "the number of plans to measure at most");
    Call call(op, arrays, words, {"seconds", "evaluations"});
    if (call.is_on_device())
        throw InputError("tuning copies arrays of the host to the GPU by itself; give copies on the host");
    const auto session = session_of(call.words().session);
    const auto fold = fold_of(call, *session);
    const auto tuned = std::make_shared<Tuned>();
    run_interruptible(
        [=, sessions = all_sessions()] {
            *tuned = tune_workload(*session, fold->op(), fold->inputs, fold->segments, options);
            for (const auto& one : sessions)
                one->forget_records();
        },
        call.arrays());
    for (const auto& [in_session, plans] : call.typed()->plans)
        plans->clear();
    nb::dict facts;
    facts["winner"] = tuned->winner;
    facts["reason"] = tuned->reason;
    facts["milliseconds"] = tuned->milliseconds;
    facts["measured"] = tuned->measured;
    facts["file"] = tuned->file;
    return facts;
}

nb::dict entry_of(const bench::Entry& entry)
{
    nb::dict facts;
    facts["name"] = entry.name;
    facts["configuration"] = entry.configuration;
    facts["is_chosen"] = entry.is_chosen;
    facts["is_peer"] = entry.is_peer;
    facts["outcome"] = std::string(bench::name(entry.outcome));
    facts["reason"] = entry.reason;
    facts["milliseconds"] = entry.milliseconds.median;
    facts["quartiles"] = nb::make_tuple(entry.milliseconds.low, entry.milliseconds.high);
    facts["bytes_per_second"] = entry.bytes_per_second;
    facts["fraction"] = entry.fraction;
    facts["agrees"] = entry.agreement.agrees;
    facts["agreement"] = entry.agreement.text;
    return facts;
}

nb::dict bench(PyOperator& op, const nb::args& arrays, const nb::kwargs& words)
{
    BenchOptions options;
    if (words.contains("repeats"))
        options.repeats = value_of<int>("repeats", words["repeats"], "how often each plan is timed");
    const auto names_in = [&](const char* word) {
        std::vector<std::string> names;
        if (!words.contains(word))
            return names;
        const nb::object given = words[word];
        if (PyUnicode_Check(given.ptr()))
            return std::vector{nb::cast<std::string>(given)};
        if (PyObject_HasAttrString(given.ptr(), "__iter__") == 0)
            throw nb::type_error(
                fmt::format("{}= takes names, and {} is given", word, nb::repr(given).c_str()).c_str());
        for (const nb::handle name : nb::iter(given))
            names.push_back(value_of<std::string>(word, name, "names"));
        return names;
    };
    options.stages = names_in("stages");
    options.peers = names_in("peers");
    Call call(op, arrays, words, {"repeats", "stages", "peers"});
    if (call.is_on_device())
        throw InputError("a bench copies arrays of the host to the GPU by itself; give copies on the host");
    const auto session = session_of(call.words().session);
    const auto fold = fold_of(call, *session);
    const auto measured = std::make_shared<bench::WorkloadRecord>();
    run_interruptible(
        [=] { *measured = bench_workload(*session, fold->op(), fold->inputs, fold->segments, options); },
        call.arrays());
    const auto& record = *measured;
    nb::list entries;
    for (const auto& entry : record.entries)
        entries.append(entry_of(entry));
    nb::dict facts;
    facts["operator"] = record.op;
    facts["layout"] = record.layout;
    facts["num_elements"] = record.num_elements;
    facts["num_segments"] = record.num_segments;
    facts["bytes"] = record.traffic.total();
    facts["entries"] = nb::tuple(entries);
    const auto device = core(*session).backend().identity();
    const auto chart = charts::bench_chart({&record, 1}, device ? device->name : "");
    facts["chart"] = chart ? chart->dump() : "{}";
    return facts;
}

nb::list devices()
{
    nb::list list;
    for (const auto& gpu : cuda::devices()) {
        nb::dict facts;
        facts["ordinal"] = gpu.ordinal;
        facts["name"] = gpu.name;
        facts["compute_capability"] = nb::make_tuple(gpu.compute_major, gpu.compute_minor);
        facts["multiprocessors"] = gpu.multiprocessors;
        facts["memory_bytes"] = gpu.memory_bytes;
        facts["l2_bytes"] = gpu.l2_bytes;
        facts["peak_bytes_per_second"] = gpu.peak_bytes_per_second;
        facts["driver"] = cuda::version_text(gpu.driver_version);
        facts["uuid"] = gpu.uuid;
        list.append(facts);
    }
    return list;
}

/// Returns the version of NVRTC, and for each kernel a tuple of name, architecture and size in bytes.
nb::tuple contents_of(const Shipped& shipped)
{
    nb::list kernels;
    for (const auto& kernel : shipped.kernels)
        kernels.append(nb::make_tuple(kernel.name, kernel.architecture, kernel.bytes));
    return nb::make_tuple(shipped.compiler, nb::tuple(kernels));
}

nb::tuple export_plans_of(const std::string& path, const std::vector<const PyOperator*>& operators,
                          const std::vector<std::string>& architectures,
                          const std::vector<std::string>& layouts, std::optional<std::int64_t> num_elements,
                          int index_bits, int key_bytes)
{
    look_for_nvrtc();
    std::vector<Operator> all;
    for (const auto* op : operators) {
        if (op == nullptr)
            throw nb::type_error(fmt::format("operators[{}] is None; give operators, such as "
                                             "sf.standard.sum_f32",
                                             all.size())
                                     .c_str());
        all.push_back(op->fixed().op);
    }
    const ExportOptions options{.architectures = architectures,
                                .layouts = layouts,
                                .num_elements = num_elements,
                                .index_bits = index_bits,
                                .key_bytes = key_bytes};
    const auto shipped = std::make_shared<Shipped>();
    std::vector<ArrayIn> none;
    run_interruptible([=] { *shipped = export_plans(path, all, options); }, none);
    return contents_of(*shipped);
}

nb::tuple import_plans_of(const std::string& path)
{
    const auto shipped = std::make_shared<Shipped>();
    std::vector<ArrayIn> none;
    run_interruptible([=] { *shipped = import_plans(path); }, none);
    return contents_of(*shipped);
}

}  // namespace

void bind_verbs(nb::module_& module)
{
    using namespace nb::literals;
    module.def(
        "check", &check, "operator"_a, "seconds"_a.none(), "cases"_a.none(), "seed"_a.none(),
        "prove"_a.none(),
        nb::sig(
            "def check(operator: Operator, seconds: float, cases: int, seed: int, prove: float) -> tuple"));
    module.def("gradient_of", &gradient_of, "operator"_a, "column"_a,
               nb::sig("def gradient_of(operator: Operator, column: str) -> tuple"));
    module.def("has_zero_gradient", &has_zero_gradient, "operator"_a, "parameter"_a);
    module.def("factors_of_sum", &factors_of_sum, "operator"_a);
    module.def("places_read", &places_read, "operator"_a,
               nb::sig("def places_read(operator: Operator) -> tuple[bool, bool, tuple[str, ...]]"));
    module.def(
        "takes_empty_segments", [](const PyOperator& op) { return op.fixed().op.takes_empty_segments(); },
        "operator"_a, "Whether segments may be empty.");
    module.def(
        "with_index_column",
        [](const PyOperator& op) { return PyOperator(with_index_column(op.fixed().op)); }, "operator"_a,
        "The operator with a further column, i64, in place of ``index``.");
    module.def("tune", &tune, "operator"_a, "arrays"_a, "words"_a);
    module.def("bench", &bench, "operator"_a, "arrays"_a, "words"_a);
    module.def("devices", &devices);
    module.def("export_plans", &export_plans_of, "path"_a, "operators"_a, "architectures"_a, "layouts"_a,
               "num_elements"_a.none(), "index_bits"_a, "key_bytes"_a,
               nb::sig("def export_plans(path: str, operators: list[Operator], architectures: list[str], "
                       "layouts: list[str], num_elements: int | None, index_bits: int, key_bytes: int) -> "
                       "tuple[str, tuple[tuple[str, str, int], ...]]"));
    module.def("import_plans", &import_plans_of, "path"_a,
               nb::sig("def import_plans(path: str) -> tuple[str, tuple[tuple[str, str, int], ...]]"));
    module.def("no_gpu_reason", &cuda::no_device_reason,
               "Why ``devices()`` is empty, in one sentence; empty where it is not.");
    module.def(
        "backends",
        [] {
            nb::list list;
            for (const auto& backend : backends())
                list.append(nb::make_tuple(backend.name, backend.summary));
            return nb::tuple(list);
        },
        "``(name, summary)`` of every back end.");
    module.def(
        "automatic_backend", [] { return std::string(automatic_backend()); },
        "What ``backend=\"auto\"`` stands for on this machine.");
    module.def(
        "nvrtc",
        [] {
            look_for_nvrtc();
            const auto& nvrtc = cuda::nvrtc();
            return nb::make_tuple(nvrtc.version(), nvrtc.library.path());
        },
        "``(version, path)`` of the CUDA compiler. Raises DeviceError where there is none, saying where it "
        "was looked for.");
}

}  // namespace segfold::python
