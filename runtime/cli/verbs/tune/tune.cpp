// segfold tune: finds the fastest plan for one operator, layout and GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/form_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/warnings.h"
#include "runtime/cli/interrupt_guard.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/verbs/tune/tune_records.h"
#include "runtime/cli/verbs/tune/tune_worker.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/cli/views/tuned.h"
#include "runtime/data/formats/npz.h"
#include "runtime/measure/tune/kept_tuning.h"
#include "runtime/measure/tune/t4.h"
#include "runtime/measure/tune/worker.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "runtime/support/files/file.h"
#include "runtime/support/rate_text.h"
#include "runtime/support/statistics.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kTunedElements = std::int64_t{1} << 24;
constexpr std::int64_t kMostEvaluations = 1000000000;
constexpr std::int64_t kMostSeconds = 1000000;
constexpr double kSecondsForAnswer = 20;
constexpr Flag kTuneFlags[] = {{"kernels", "DIR"},
                               {"backend", "BACKEND"},
                               {"device", "N"},
                               {"effort", "none|quick|full"},
                               {"seconds", "S"},
                               {"evaluations", "E"},
                               {"every"},
                               {"pin"},
                               {"export-t4", "FILE"},
                               {"worker"}};
constexpr std::array<std::string_view, 3> kEfforts = {"none", "quick", "full"};

/// The default limits of one value of --effort. Other flags may override them.
struct Effort {
    std::int64_t seconds;
    std::int64_t evaluations;
    std::size_t finalists;
};
constexpr std::array<Effort, 3> kAllowed = {Effort{0, 0, 0}, Effort{60, 40, 8}, Effort{600, 400, 16}};

/// The request of the command line.
struct TuneRequest {
    std::size_t effort = 1;  ///< index in kEfforts
    std::int64_t seconds = 0;
    std::size_t evaluations = 0;
    bool is_every = false;
};

TuneRequest tune_request(const Arguments& arguments)
{
    TuneRequest request;
    request.effort = arguments.choice("effort", kEfforts).value_or(1);
    request.is_every = arguments.has("every");
    if (kEfforts[request.effort] == "none")
        for (const auto flag : {"seconds", "evaluations", "every", "pin", "export-t4"})
            arguments.refuse(flag, "is about measuring, and --effort none measures nothing");
    if (request.is_every)
        for (const auto flag : {"effort", "evaluations"})
            arguments.refuse(flag, "limits the search, and --every measures every plan");
    const auto& allowed = kAllowed[request.effort];
    request.seconds = arguments.integer("seconds", 1, kMostSeconds)
                          .value_or(request.is_every ? kMostSeconds : allowed.seconds);
    request.evaluations =
        static_cast<std::size_t>(arguments.integer("evaluations", 1, kMostEvaluations)
                                     .value_or(request.is_every ? kMostEvaluations : allowed.evaluations));
    return request;
}

/// A run of the tuner, with its worker process and its report.
class Tuning {
public:
    Tuning(const Words& words, const Arguments& arguments, const Operator& op, Session& session)
        : arguments_(arguments),
          request_(tune_request(arguments)),
          session_(session),
          worker_(program_of(words), kSecondsForAnswer),
          greeting_((progress_.show("tune: getting ready"), parse_greeting(worker_.greeting()))),
          problem_(problem_of(op, session.laws(op), greeting_)),
          tuning_(greeting_.record, problem_, core(session).catalogue())
    {}

    int run()
    {
        for (const auto& ignored : tuning_.lookup().ignored)
            write_error("warning: " + ignored);
        if (kEfforts[request_.effort] == "none") {
            progress_.clear();
            return report({});
        }
        if (const auto* best = tune::fastest(tuning_.known()))
            note_best(*best);
        const InterruptGuard guard;
        start_ = Clock::now();
        const tune::Limits limits{request_.evaluations, kAllowed[request_.effort].finalists,
                                  request_.is_every ? tune::Strategy::everything : tune::Strategy::automatic,
                                  arguments_.has("pin")};
        const auto contest = tuning_.run(worker_, limits, listener());
        progress_.clear();
        if (const auto path = arguments_.value("export-t4"))
            write_whole(*path, tune::print_t4(tuning_.rows()));
        return report(contest);
    }

private:
    static std::vector<std::string> program_of(const Words& words)
    {
        std::vector<std::string> program = {std::filesystem::read_symlink("/proc/self/exe").string(), "tune"};
        program.insert(program.end(), words.begin(), words.end());
        program.emplace_back("--worker");
        return program;
    }

    static Problem problem_of(const Operator& op, OperatorLaws laws, const TuneGreeting& greeting)
    {
        const auto& known = greeting.record.problem;
        const auto form =
            std::ranges::find_if(kForms, [&](SegmentForm one) { return name(one) == known.form; });
        if (form == std::end(kForms))
            throw InternalError("a worker has segments given as " + known.form);
        if (op.has_identity() && !known.has_identity)
            laws.without_identity = "the worker's data are not finite";
        laws.usable = greeting.laws;
        auto problem = make_problem(op, *form, known.index_bits, laws);
        if (known.key_bytes != 0)
            problem.key_bytes = known.key_bytes;
        problem.target = greeting.target;
        return problem;
    }

    void note_best(const tune::Trial& trial)
    {
        const auto& measurement = trial.measurement;
        if (measurement.outcome != MeasurementOutcome::correct || measurement.milliseconds >= best_)
            return;
        best_ = measurement.milliseconds;
        best_text_ = fmt::format("{:.4g} ms with {}", best_, print(tuning_.space()[trial.place]));
    }

    void show_progress()
    {
        constexpr std::size_t kWidth = 20;
        const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
        const auto size = tuning_.space().size();
        const auto expected = std::min(request_.evaluations, size - std::min(tuning_.known().size(), size));
        const double part =
            std::max(static_cast<double>(measured_) / static_cast<double>(std::max<std::size_t>(expected, 1)),
                     seconds / static_cast<double>(request_.seconds));
        const auto full = static_cast<std::size_t>(std::min(part, 1.0) * kWidth);
        progress_.show(fmt::format("tune [{}{}] {} plans in {:.0f} s{}", std::string(full, '#'),
                                   std::string(kWidth - full, '.'), measured_, seconds,
                                   best_text_.empty() ? "" : ", best " + best_text_));
    }

    tune::ContestListener listener()
    {
        tune::ContestListener all;
        all.search.measured = [this](const tune::Trial& trial) {
            ++measured_;
            note_best(trial);
            show_progress();
        };
        all.search.stops = [this] {
            return InterruptGuard::signal() != 0 ||
                   Clock::now() - start_ > std::chrono::seconds(request_.seconds);
        };
        all.is_interrupted = [] { return InterruptGuard::signal() != 0; };
        all.ranking = [this](std::size_t finalists) {
            progress_.show(fmt::format("tune: ranking the best {}, best {}", finalists, best_text_));
        };
        return all;
    }

    /// Returns the form to which the segments are converted before the plan at `point` is timed. Returns
    /// nothing if the plan reads the segments in their given form.
    [[nodiscard]] std::optional<SegmentForm> made_before(const Point& point) const
    {
        const auto form = served_form(core(session_).catalogue().stage(point.stage), problem_.form);
        return form == problem_.form ? std::nullopt : form;
    }

    /// Returns a plan's bandwidth as a share of the read ceiling. Counts compulsory bytes only, with segments
    /// in the form that the plan reads.
    [[nodiscard]] double share(const Point& point, double milliseconds) const
    {
        const auto& shape = greeting_.record.shape;
        const auto layout = [&](SegmentForm form) {
            return layout_bytes(form, shape.num_elements, shape.num_segments, problem_.index_bits,
                                problem_.key_bytes);
        };
        auto bytes = greeting_.record.bytes;
        if (const auto form = made_before(point))
            bytes += layout(*form) - layout(problem_.form);
        return static_cast<double>(bytes) / (milliseconds / 1e3) / greeting_.ceiling;
    }

    [[nodiscard]] std::string outcomes(const tune::Contest& contest) const
    {
        std::map<std::string_view, int> counts;
        for (const auto& trial : contest.trials)
            ++counts[name(trial.measurement.outcome)];
        std::string text;
        for (const auto& [outcome, count] : counts)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
        return text;
    }

    int report(const tune::Contest& contest)
    {
        if (arguments_.json())
            write_json("tune", document(contest));
        else
            write_output(text(contest));
        if (InterruptGuard::signal() != 0)
            return 128 + InterruptGuard::signal();
        return contest.winner || contest.trials.empty() ? 0 : 1;
    }

    [[nodiscard]] std::string text(const tune::Contest& contest) const
    {
        const auto& record = greeting_.record;
        const auto& space = tuning_.space();
        std::vector<std::pair<std::string, std::string>> facts = {
            {"operator", signature(problem_.op)},
            {"data",
             fmt::format("{} in {} ({}), {}-bit indices", count_text(record.shape.num_elements, "element"),
                         count_text(record.shape.num_segments, "segment"), record.layout,
                         record.problem.index_bits)},
            {"device", print(record.device)},
            {"space", fmt::format("{} of {}", count_text(static_cast<std::int64_t>(space.size()), "plan"),
                                  count_text(std::ssize(space.starts()), "stage"))},
            {"until now", fmt::format("{}: {}", print(space[tuning_.incumbent()]), tuning_.lookup().reason)}};
        if (contest.trials.empty())
            return print_facts(facts);
        facts.emplace_back("screened",
                           fmt::format("{} plans, {} of them known before: {}", contest.trials.size(),
                                       tuning_.known().size(), outcomes(contest)));
        TextTable table({{"finalist"},
                         {"ms", TextTable::Align::right},
                         {"quartiles", TextTable::Align::right},
                         {"GB/s", TextTable::Align::right},
                         {"of ceiling", TextTable::Align::right}});
        bool is_any_made = false;
        for (const auto& [place, measurement] : contest.finalists) {
            const auto part = share(space[place], measurement.milliseconds);
            const auto runs = quartiles(measurement.samples);
            is_any_made = is_any_made || made_before(space[place]);
            table.add({(contest.winner == place ? "* " : "  ") + print(space[place]),
                       fmt::format("{:.4g}", measurement.milliseconds),
                       fmt::format("{:.4g} - {:.4g}", runs.low, runs.high),
                       gigabytes_text(part * greeting_.ceiling), fmt::format("{:.3f}", part)});
        }
        std::vector<std::pair<std::string, std::string>> end = {
            {"winner", contest.winner ? print(space[*contest.winner]) : "none"}, {"why", contest.reason}};
        if (is_any_made)
            end.emplace_back("times", fmt::format("plans by offsets have them made of the {} before anything "
                                                  "is timed; their share counts the offsets alone",
                                                  name(problem_.form)));
        if (contest.winner)
            end.emplace_back("results", "agree with the reference" +
                                            (contest.unjudged.empty() ? "" : "; " + contest.unjudged));
        end.emplace_back("records", tuning_.path());
        return print_facts(facts) + "\n" + (table.empty() ? "" : table.print() + "\n") + print_facts(end);
    }

    [[nodiscard]] Json document(const tune::Contest& contest) const
    {
        const auto& space = tuning_.space();
        const auto plan = [&](std::size_t place) {
            return Json{{"stage", space[place].stage},
                        {"configuration", json_of(space[place].configuration)}};
        };
        const auto& record = greeting_.record;
        Json document = {{"operator", problem_.op.name},
                         {"layout", record.layout},
                         {"num_elements", record.shape.num_elements},
                         {"num_segments", record.shape.num_segments},
                         {"device", record.device.name},
                         {"plans", space.size()},
                         {"incumbent", plan(tuning_.incumbent())},
                         {"lookup", name(tuning_.lookup().match)},
                         {"lookup_reason", tuning_.lookup().reason},
                         {"screened", contest.trials.size()},
                         {"known_before", tuning_.known().size()},
                         {"finalists", Json::array()},
                         {"reason", contest.reason}};
        if (!contest.unjudged.empty())
            document["unjudged"] = contest.unjudged;
        for (const auto& [place, measurement] : contest.finalists) {
            auto row = plan(place);
            const auto runs = quartiles(measurement.samples);
            row["milliseconds"] = measurement.milliseconds;
            row["quartiles"] = {{"low", runs.low}, {"median", runs.median}, {"high", runs.high}};
            row["fraction"] = share(space[place], measurement.milliseconds);
            document["finalists"].push_back(std::move(row));
        }
        document["winner"] = contest.winner ? plan(*contest.winner) : Json();
        document["certain"] = contest.is_certain;
        document["interrupted"] = InterruptGuard::signal() != 0;
        document["records"] = tuning_.path();
        return document;
    }

    const Arguments& arguments_;
    TuneRequest request_;
    Session& session_;
    Progress progress_;
    tune::WorkerEvaluator worker_;
    TuneGreeting greeting_;
    Problem problem_;
    tune::KeptTuning tuning_;
    std::size_t measured_ = 0;
    double best_ = std::numeric_limits<double>::infinity();
    std::string best_text_;
    Clock::time_point start_;
};

/// Throws InputError if an input is standard input. The data are read by the worker process, whose standard
/// input is a pipe from the tuner.
void refuse_standard_input(const WorkloadRequest& request)
{
    auto files = request.layout.files;
    for (const auto& [parameter, file] : request.inputs)
        files.push_back(file);
    if (std::ranges::any_of(files, [](const auto& file) { return archive_place(file).path == "-"; }))
        throw InputError(
            "tune cannot read standard input, because a process of its own reads the data; write them "
            "to a file");
}

}  // namespace

int verb_tune(const Words& words)
{
    const Arguments arguments(
        "tune", words,
        join({kOperatorFlags, kScannedFlags, kInputFlags, kDataFlags, kLawFlags, kTuneFlags, kRecordFlags}),
        1);
    if (asks_about_records(arguments))
        return tune_records(arguments);
    auto op = operator_argument(arguments);
    auto request = workload_request(arguments, op, true);
    require_given_by_flags(op, request);
    if (!arguments.has("values"))
        request.values = agreeing_values(op);
    request.standard_elements = kTunedElements;
    refuse_standard_input(request);
    (void)tune_request(arguments);
    if (arguments.has("worker"))
        return serve_plans(arguments, op, request);
    if (const auto path = arguments.value("export-t4"))
        require_writable(*path);
    auto options = session_options(arguments, op);
    options.backend = arguments.value("backend").value_or("auto");
    Session session(options);
    const auto laws = session.laws(op, given_scalars(op, request.scalars));
    // The worker has the data and refuses them if the wrong identity would change results.
    if (!laws.has_sound_identity)
        write_warnings(arguments, {fmt::format("operator {} states an identity that is none\n{}", op.name,
                                               print(*laws.report.find(Law::identity), op))});
    write_warnings(arguments, law_warnings(laws, op));
    require_timed_device(arguments);
    return Tuning(words, arguments, op, session).run();
}

}  // namespace segfold::cli
