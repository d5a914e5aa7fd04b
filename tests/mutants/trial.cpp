#include "tests/mutants/trial.h"
#include "runtime/session/core.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "codegen/embedded_kernels.h"
#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/check/operators/stage_operators.h"
#include "runtime/judge/compare.h"
#include "tests/mutants/cases.h"

namespace segfold::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 6> kNames = {"killed",    "survived", "equivalent",
                                                    "unreached", "broken",   "unfinished"};
/// Of a part that many stages use, so many of them are run.
constexpr std::size_t kMostStages = 5;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The files that a stage's or part's text uses, itself among them.
void add_used(const std::string& file, std::set<std::string>& used)
{
    if (!used.insert(file).second)
        return;
    const auto text = text_of(file);
    constexpr std::string_view kUse = "parts/";
    for (std::size_t at = 0; (at = text.find(kUse, at)) != std::string::npos; ++at) {
        const auto end = text.find(".cuh", at);
        const auto path = text.substr(at, end + 4 - at);
        if (path.find_first_of(" \n") == std::string::npos)
            add_used(path, used);
    }
}

/// The stages whose texts have a file: itself, or of those that use it some.
std::vector<const Stage*> stages_with(const std::string& file)
{
    std::vector<const Stage*> stages;
    for (const auto& stage : Catalogue::standard().stages()) {
        std::set<std::string> used;
        add_used(stage.file, used);
        if (used.contains(file) && stages.size() < kMostStages)
            stages.push_back(&stage);
    }
    if (stages.empty())  // what operators use, stages do not name
        stages.push_back(
            &Catalogue::standard().stage(file == "parts/map_rows.cuh" ? "row_groups" : "thread_per_segment"));
    return stages;
}

/// The cases of a stage, made once: some stages have thousands of configurations to choose from.
const std::vector<MutantCase>& made_cases(const Stage& stage)
{
    static std::map<std::string, std::vector<MutantCase>> made;
    auto place = made.find(stage.name);
    if (place == made.end())
        place = made.emplace(stage.name, cases_of(stage)).first;
    return place->second;
}

/// The cases that may have a file in their texts, cheapest first.
std::vector<const MutantCase*> cases_with(const std::string& file, int level)
{
    std::vector<const MutantCase*> cases;
    for (const auto* stage : stages_with(file))
        for (const auto& c : made_cases(*stage))
            if (c.level <= level)
                cases.push_back(&c);
    std::ranges::stable_sort(cases, {}, &MutantCase::level);
    return cases;
}

// What the handler of a run that does not end has to say, and to whom.
int answer_to = -1;
std::string hang_answer;
int hang_status = 0;  // that the process ends with

void on_hang(int)
{
    (void)!write(answer_to, hang_answer.data(), hang_answer.size());
    _exit(hang_status);
}

void limit_processor_time(double seconds)
{
    itimerval time{};
    time.it_value.tv_sec = static_cast<time_t>(seconds);
    setitimer(ITIMER_PROF, &time, nullptr);
}

std::string first_line(const std::string& text)
{
    auto line = text.substr(0, std::min<std::size_t>(text.find('\n'), 160));
    std::ranges::replace(line, '\t', ' ');
    return line;
}

/// What is wrong with a run, nothing where it agrees.
std::optional<std::string> fault_of(const MutantCase& c, const Emitted& emitted, const TrialOptions& options)
{
    simt::CompileOptions compile;
    compile.shadow_check = c.checked;
    compile.optimisation = options.optimisation;
    for (const auto& shape : c.shapes()) {
        const auto workload = workload_of(c, shape.segments.copy());
        const Judge judge(workload, {.threads = 1});
        std::optional<Segments> earlier;
        if (c.earlier)
            earlier = c.earlier();
        for (const auto& round : c.rounds) {
            const auto told = [&](const std::string& what) {
                return c.name + ", " + shape.name + ", seed " + std::to_string(round.seed) + ": " +
                       first_line(what);
            };
            auto how = simt::options_from_seed(round.seed);
            how.os_threads = 1;
            how.resident_blocks = round.resident_blocks;
            if (round.overtaking) {
                how.schedule = simt::Schedule::overtaking;
                how.block_order = simt::BlockOrder::ascending;
            }
            how.endless_seconds = 3;
            hang_answer = "killed\t" + told("does not end") + "\n";
            limit_processor_time(c.checked ? options.run_seconds : 4 * options.run_seconds);
            try {
                const auto results =
                    simt::run(workload, emitted, how, compile, round.num_multiprocessors, round.num_launches,
                              round.shifted_elements, {}, nullptr, earlier ? &*earlier : nullptr);
                if (const auto comparison = judge.compare(results); !comparison.agrees())
                    return told(segfold::print(comparison));
            } catch (const simt::SimtError& error) {
                return told(error.what());
            } catch (const InternalError& error) {  // a number of segments that no input has
                return told(error.what());
            } catch (const InputError& error) {  // a table is read where no element reads it
                return told(error.what());
            }
        }
    }
    return std::nullopt;
}

/// The line with which a process answers: verdict and detail.
std::string answer_of(const Mutant& mutant, const Catalogue& changed, const TrialOptions& options)
{
    std::size_t num_cases = 0, num_commuting = 0;
    for (const auto* tried : cases_with(mutant.file, options.level)) {
        const auto& c = *tried;
        const auto& stage = Catalogue::standard().stage(c.stage);
        const auto usual = emit(c.problem, stage, c.configuration, Catalogue::standard(), c.numbers);
        try {
            const auto emitted = emit(c.problem, changed.stage(c.stage), c.configuration, changed, c.numbers);
            if (emitted.source == usual.source)
                continue;
            if (mutant.rule == "swap" && c.problem.op.laws.commutative) {
                ++num_commuting;
                continue;
            }
            ++num_cases;
            if (const auto fault = fault_of(c, emitted, options))
                return "killed\t" + *fault;
        } catch (const DeviceError& error) {
            return "broken\t" + first_line(error.what());
        } catch (const SpecError& error) {
            return "broken\t" + first_line(error.what());
        }
    }
    if (num_cases == 0)
        return num_commuting > 0 ? "equivalent\tcombine() commutes" : "unreached\t";
    return "survived\t" + std::to_string(num_cases) + " cases";
}

/// The same, by a check of each stage that has the file.
std::string answer_of_check(const Mutant& mutant, Session& session)
{
    constexpr double kCheckSeconds = 30;  // of a processor, for one operator
    const auto& catalogue = core(session).catalogue();
    std::size_t num_checks = 0;
    for (const auto* usual : stages_with(mutant.file)) {
        const std::vector<const Stage*> stages = {&catalogue.stage(usual->name)};
        for (const auto& op :
             regress::stage_operators(*stages.front(), catalogue, core(session).backend().target())) {
            regress::CheckRequest request;
            request.stages = stages;
            regress::take_standard_data(request, op, catalogue, core(session).backend());
            request.proof.seconds = 0;
            request.until_failure = true;
            const auto told = [&](const std::string& what) {
                return "killed\t" + usual->name + ", " + op.name + first_line(what);
            };
            hang_answer = told(" does not end") + "\n";
            limit_processor_time(kCheckSeconds);
            ++num_checks;
            try {
                const auto check = regress::check_operator(session, op, request);
                for (const auto& outcome : check.matrix.outcomes)
                    if (outcome.failed())
                        return told(", " + outcome.layout +
                                    (outcome.fault ? ": " + *outcome.fault : std::string(": wrong")));
            } catch (const InternalError& error) {
                return told(std::string(": ") + error.what());
            } catch (const InputError& error) {
                return told(std::string(": ") + error.what());
            }
        }
    }
    return "survived\t" + std::to_string(num_checks) + " checks";
}

/// A folder with a copy of kernels/ and room for compiled texts, where one process at a time works.
class Slot {
public:
    Slot()
    {
        std::string pattern = (fs::temp_directory_path() / "segfold-mutants-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr)
            throw DeviceError("cannot make a folder " + pattern + "; set TMPDIR");
        folder_ = pattern;
        for (const auto& file : embedded_kernels()) {
            const auto path = kernels() / file.path;
            fs::create_directories(path.parent_path());
            std::ofstream(path, std::ios::binary) << file.text;
        }
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { fs::remove_all(folder_); }

    [[nodiscard]] bool is_busy() const { return child_ > 0; }
    [[nodiscard]] int descriptor() const { return answer_; }
    [[nodiscard]] double seconds() const { return since(begin_); }
    [[nodiscard]] const Mutant& mutant() const { return *mutant_; }

    void start(const Mutant& mutant, const TrialOptions& options)
    {
        if (!options.by_check)
            (void)cases_with(mutant.file, options.level);  // once for all processes
        mutant_ = &mutant;
        begin_ = Clock::now();
        text_.clear();
        fs::create_directories(folder_ / "work");
        int ends[2];
        if (pipe(ends) != 0)
            throw DeviceError(std::string("no pipe: ") + std::strerror(errno));
        child_ = fork();
        if (child_ == 0) {
            close(ends[0]);
            work(ends[1], options);
        }
        close(ends[1]);
        answer_ = ends[0];
    }

    /// Reads what the process says; the outcome once it has ended.
    std::optional<Outcome> hear(const TrialOptions& options)
    {
        std::array<char, 4096> part;
        const auto count = read(answer_, part.data(), part.size());
        if (count > 0) {
            text_.append(part.data(), static_cast<std::size_t>(count));
            return std::nullopt;
        }
        int status = 0;
        waitpid(child_, &status, 0);
        Outcome outcome;
        outcome.level = options.level;
        outcome.seconds = seconds();
        if (const auto tab = text_.find('\t'); tab != std::string::npos) {
            outcome.verdict = verdict_from(text_.substr(0, tab));
            outcome.detail = text_.substr(tab + 1, text_.find('\n') - tab - 1);
        } else if (is_late_) {
            outcome.detail = "took longer than it may";
        } else {  // the executor itself fell over what the kernel did
            outcome.verdict = Verdict::killed;
            outcome.detail = "the process ends with status " + std::to_string(status);
        }
        close(answer_);
        child_ = 0;
        is_late_ = false;
        fs::remove_all(folder_ / "work");
        return outcome;
    }

    void stop()
    {
        is_late_ = true;
        kill(-child_, SIGKILL);
        kill(child_, SIGKILL);
    }

private:
    [[nodiscard]] fs::path kernels() const { return folder_ / "kernels"; }

    [[noreturn]] void work(int answer, const TrialOptions& options)
    {
        setpgid(0, 0);  // the compiler ends with it
        answer_to = answer;
        fcntl(answer, F_SETFD, FD_CLOEXEC);
        setenv("TMPDIR", (folder_ / "work").c_str(), 1);
        signal(SIGPROF, on_hang);
        std::string text;
        try {
            const auto path = kernels() / mutant_->file;
            const auto original = text_of(mutant_->file);
            std::ofstream(path, std::ios::binary | std::ios::trunc) << mutated(original, *mutant_);
            std::optional<Session> session;
            try {
                SessionOptions changed;
                changed.kernels = kernels().string();
                session.emplace(make_backend("simt"), changed);
            } catch (const Error& error) {
                text = "broken\t" + first_line(error.what());
            }
            std::ofstream(path, std::ios::binary | std::ios::trunc) << original;
            try {
                if (session)
                    text = options.by_check ? answer_of_check(*mutant_, *session)
                                            : answer_of(*mutant_, core(*session).catalogue(), options);
            } catch (const DeviceError& error) {
                text = "broken\t" + first_line(error.what());
            }
        } catch (const std::exception& error) {
            text = "unfinished\t" + first_line(error.what());
        }
        text += "\n";
        (void)!write(answer, text.data(), text.size());
        _exit(0);
    }

    fs::path folder_;
    const Mutant* mutant_ = nullptr;
    Clock::time_point begin_;
    pid_t child_ = 0;
    int answer_ = -1;
    bool is_late_ = false;
    std::string text_;
};

}  // namespace

std::string name(Verdict verdict) { return std::string(kNames[static_cast<std::size_t>(verdict)]); }

Verdict verdict_from(const std::string& word)
{
    const auto place = std::ranges::find(kNames, word);
    if (place == kNames.end())
        throw InputError("'" + word + "' is no verdict");
    return static_cast<Verdict>(place - kNames.begin());
}

std::vector<std::string> mutated_files()
{
    std::vector<std::string> files;
    for (const auto& file : embedded_kernels())
        if (!file.path.starts_with("measuring/"))
            files.emplace_back(file.path);
    return files;
}

std::string text_of(const std::string& file)
{
    for (const auto& known : embedded_kernels())
        if (known.path == file)
            return std::string(known.text);
    throw InputError("kernels/ has no file " + file);
}

void try_mutants(std::span<const Mutant> mutants, const TrialOptions& options,
                 const std::function<void(const Mutant&, const Outcome&)>& report)
{
    std::vector<Slot> slots(static_cast<std::size_t>(std::max(options.jobs, 1)));
    std::size_t next = 0;
    for (;;) {
        std::vector<pollfd> waited;
        std::vector<Slot*> busy;
        for (auto& slot : slots) {
            if (!slot.is_busy() && next < mutants.size())
                slot.start(mutants[next++], options);
            if (slot.is_busy()) {
                waited.push_back({slot.descriptor(), POLLIN, 0});
                busy.push_back(&slot);
            }
        }
        if (busy.empty())
            return;
        poll(waited.data(), waited.size(), 1000);
        for (std::size_t i = 0; i < busy.size(); ++i) {
            if (waited[i].revents != 0) {
                if (const auto outcome = busy[i]->hear(options))
                    report(busy[i]->mutant(), *outcome);
            } else if (busy[i]->seconds() > options.seconds) {
                busy[i]->stop();
            }
        }
    }
}

std::vector<std::string> try_unchanged(const std::string& stage, const TrialOptions& options)
{
    signal(SIGPROF, on_hang);
    answer_to = STDERR_FILENO;
    hang_status = 1;
    std::vector<std::string> faults;
    for (const auto& c : cases_of(Catalogue::standard().stage(stage))) {
        if (c.level > options.level)
            continue;
        const auto emitted = emit(c.problem, Catalogue::standard().stage(stage), c.configuration,
                                  Catalogue::standard(), c.numbers);
        if (const auto fault = fault_of(c, emitted, options))
            faults.push_back(*fault);
    }
    limit_processor_time(0);
    return faults;
}

}  // namespace segfold::test
