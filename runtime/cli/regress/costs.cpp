// segfold regress: compares static costs and ratios of times with a baseline.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/check/rows.h"
#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/cli/regress/parts.h"
#include "runtime/data/resolve.h"
#include "runtime/measure/times/ratios.h"

namespace segfold {

std::span<const EmbeddedFile> embedded_baselines();

namespace cli {
namespace {

constexpr std::string_view kArchitectures[] = {"sm_80", "sm_90", "sm_100"};
constexpr std::int64_t kTimedElements = std::int64_t{1} << 26;
constexpr std::int64_t kMostTimedElements = std::int64_t{1} << 31;
constexpr std::int64_t kMostSelves = 1000;

/// The default layouts for times: the standard workloads with fewer segment lengths. `whole` is always added.
constexpr const char* kLayouts[] = {"uniform=1",
                                    "uniform=4",
                                    "uniform=8",
                                    "uniform=32",
                                    "uniform=128",
                                    "uniform=1024",
                                    "uniform=65536",
                                    "geometric:mean=32",
                                    "poisson:mean=32",
                                    "zipf:exponent=1.9",
                                    "lognormal:mean=3,sigma=1.2",
                                    "half_empty:mean=32",
                                    "giant:half"};

/// Returns the back end whose times are measured. Ignores --schedule-seed, which only concerns relations.
std::unique_ptr<Backend> timed_backend(const Arguments& arguments)
{
    BackendOptions options;
    if (const auto device = arguments.integer("device", 0, 1023))
        options.device = static_cast<int>(*device);
    return make_backend(arguments.value("backend").value_or("auto"), options);
}

regress::TimeRequest time_request(const Arguments& arguments, std::span<const NamedOperator> ops,
                                  const Catalogue& catalogue)
{
    regress::TimeRequest request{.ops = {ops.begin(), ops.end()},
                                 .stages = regress_stages(arguments, catalogue),
                                 .catalogue = catalogue,
                                 .layouts = {},
                                 .make_arrays = arrays_argument(arguments, ops)};
    if (const auto layout = arguments.value("layout")) {
        request.layouts = {parse_layout(*layout)};
        const auto kind = request.layouts[0].kind;
        if (kind != LayoutKind::whole && kind != LayoutKind::uniform && kind != LayoutKind::generated)
            throw InputError(
                fmt::format("--layout '{}' reads files; times are taken over whole, uniform and "
                            "generated layouts",
                            *layout));
    } else {
        for (const auto* text : kLayouts)
            request.layouts.push_back(parse_layout(text));
    }
    request.num_elements = arguments.integer("elements", 1, kMostTimedElements).value_or(kTimedElements);
    const auto& first = request.layouts.front();
    if (arguments.has("layout") && arguments.has("elements") && first.kind == LayoutKind::uniform)
        // Throws for layouts that do not fit the number of elements.
        (void)resolve(first, request.num_elements);
    request.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, kLargestSeed).value_or(7));
    return request;
}

/// Adds a remark for each uniform layout that leaves some elements unused.
void remark_uniform(const regress::TimeRequest& request, TimeReport& report)
{
    for (const auto& layout : request.layouts)
        if (layout.kind == LayoutKind::uniform && request.num_elements % layout.uniform_length != 0)
            report.remarks.push_back(
                fmt::format("{} takes {} of the elements, which is a multiple of its length", print(layout),
                            request.num_elements - request.num_elements % layout.uniform_length));
}

/// Returns the baseline's times of this device, and adds remarks about different circumstances.
///
/// If the baseline has no times of this device, returns null and adds a remark if static costs are compared
/// too; otherwise throws InputError. Also throws if the numbers of elements differ.
const regress::DeviceTimes* comparable(const Arguments& arguments, const regress::Baseline& baseline,
                                       TimeReport& report)
{
    const auto& path = report.baseline;
    const auto& now = report.times;
    const auto* then = baseline.find(now.device);
    if (!then) {
        std::vector<std::string> devices;
        for (const auto& device : baseline.times)
            devices.push_back(device.device);
        const auto reason = fmt::format("has no times of {}, {}", now.device,
                                        devices.empty() ? "and none of other devices"
                                                        : fmt::format("but of {}", fmt::join(devices, ", ")));
        if (arguments.has("time") || arguments.has("self") || !baseline.static_costs)
            throw InputError(path + ": " + reason);
        report.remarks.push_back(path + " " + reason);
        return nullptr;
    }
    if (then->num_elements != now.num_elements)
        throw InputError(
            fmt::format("{}: the times of {} are those of {} elements, and {} are measured; "
                        "--elements {} takes as many",
                        path, now.device, then->num_elements, now.num_elements, then->num_elements));
    if (then->driver != now.driver)
        report.remarks.push_back(
            fmt::format("the driver is {}, the baseline's was {}", now.driver, then->driver));
    if (then->compiler != now.compiler)
        report.remarks.push_back(
            fmt::format("{} compiles, for the baseline {} did", now.compiler, then->compiler));
    return then;
}

SelfComparison summary(const std::vector<regress::TimeOutcome>& outcomes)
{
    SelfComparison all;
    for (const auto& outcome : outcomes) {
        all.num_cases += outcome.verdict != regress::Verdict::no_baseline;
        all.num_alarms +=
            outcome.verdict == regress::Verdict::worse || outcome.verdict == regress::Verdict::better;
        all.num_ambiguous += outcome.verdict == regress::Verdict::ambiguous;
    }
    return all;
}

}  // namespace

std::string why_no_times(const Arguments& arguments)
{
    const auto backend = arguments.value("backend").value_or("auto");
    if (backend != "auto" && backend != "cuda") {
        if (!make_backend(backend)->identity())
            return fmt::format("the back end is {}, and times are those of a GPU", backend);
        return "";
    }
    // Cuts off the advice for runs without a GPU, because regress measures CUDA stages unless --backend names
    // another back end.
    const auto reason = backend == "auto" ? no_timed_device(true) : cuda::no_device_reason();
    return reason.empty() ? ""
                          : "times are those of a GPU, or of the host with --backend cpu: " +
                                reason.substr(0, reason.find("; use "));
}

StaticReport hold_static_costs(const Arguments& arguments, std::span<const NamedOperator> ops,
                               const Catalogue& catalogue, const regress::Baseline* baseline,
                               Progress& progress)
{
    StaticReport report;
    try {
        (void)cuda::nvrtc();
    } catch (const DeviceError& error) {
        if (arguments.has("static"))
            throw;
        report.left_out = error.what();
        return report;
    }
    progress.show("static costs: compiling");
    const std::vector<std::string> architectures(std::begin(kArchitectures), std::end(kArchitectures));
    Countdown countdown;
    report.costs =
        regress::static_costs(ops, regress_stages(arguments, catalogue), catalogue, architectures,
                              [&](std::size_t done, std::size_t all) {
                                  progress.show(fmt::format("static costs: {} of {} texts compiled{}", done,
                                                            all, countdown.text(done, all)));
                              });
    std::optional<regress::StaticCosts> then;
    if (baseline && baseline->static_costs) {
        then = baseline->static_costs;
        report.baseline = *arguments.value("baseline");
    } else if (!arguments.has("save")) {
        for (const auto& file : embedded_baselines())
            then = regress::parse_baseline(std::string(file.path), file.text).static_costs;
        report.baseline = "the program's own";
    }
    if (!then)
        return report;
    // Removes unrequested cases, so that they do not count as missing.
    std::erase_if(then->costs, [&](const regress::StaticCost& cost) {
        return std::ranges::find(ops, cost.op, &NamedOperator::name) == ops.end() ||
               (arguments.value("stage").value_or("all") != "all" && cost.stage != *arguments.value("stage"));
    });
    report.baseline_compiler = then->compiler;
    report.verdict = regress::compare(report.costs, *then);
    if (baseline && baseline->static_costs && report.verdict.num_compared == 0)
        throw InputError(
            fmt::format("{}: none of its static costs is of a form and an architecture that are "
                        "compiled now",
                        report.baseline));
    return report;
}

TimeReport hold_times(const Arguments& arguments, std::span<const NamedOperator> ops,
                      const Catalogue& catalogue, const regress::Baseline* baseline, Progress& progress)
{
    TimeReport report;
    const auto selves = arguments.integer("self", 1, kMostSelves);
    report.left_out = why_no_times(arguments);
    if (!report.left_out.empty()) {
        if (arguments.has("time") || selves)
            throw DeviceError(report.left_out);
        return report;
    }
    const auto backend = timed_backend(arguments);
    auto request = time_request(arguments, ops, catalogue);
    auto& times = report.times;
    regress::TimeBench bench(*backend, request);
    times.device = backend->identity().value_or(DeviceIdentity()).name;
    times.driver = bench.facts().driver;
    times.compiler = bench.facts().compiler;
    times.num_elements = request.num_elements;
    for (const auto& named : ops)
        if (has_rows(named.op))
            report.remarks.push_back(fmt::format("rows of {} are of one feature each", named.name));
    remark_uniform(request, report);
    const regress::DeviceTimes* then = nullptr;
    if (baseline) {
        report.baseline = *arguments.value("baseline");
        then = comparable(arguments, *baseline, report);
    }
    const auto measure = [&](const std::string& prefix) {
        return bench.measure([&](const std::string& what) { progress.show(prefix + what); });
    };
    const auto again = [&](const regress::TimeCase& one) {
        progress.show(fmt::format("again: {} {} {}", one.op, one.stage, one.layout));
        return bench.measure(one);
    };
    const auto slowly = [&](const regress::TimeCase& one) {
        progress.show(fmt::format("over the cut-off: {} {} {}", one.op, one.stage, one.layout));
        return bench.measure_slow(one);
    };
    times.cases = measure("times: ");
    report.outcomes = regress::compare_times(
        times.cases, then ? then->cases : std::vector<regress::TimeCase>(), again, slowly);
    if (then && report.count(regress::Verdict::no_baseline) == std::ssize(report.outcomes))
        throw InputError(fmt::format(
            "{}: none of its times is of a layout and a divisor that are measured now", report.baseline));
    for (std::int64_t i = 0; selves && i < *selves; ++i) {
        const auto cases = measure(fmt::format("itself, {} of {}: ", i + 1, *selves));
        report.selves.push_back(summary(regress::compare_times(cases, times.cases, again, slowly)));
    }
    return report;
}

}  // namespace cli
}  // namespace segfold
