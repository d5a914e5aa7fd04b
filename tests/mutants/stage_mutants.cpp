// Changes every stage and part one place at a time and counts the changes that its tests find.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "codegen/catalogue.h"
#include "dsl/error.h"
#include "runtime/support/processes/process.h"
#include "tests/mutants/known.h"
#include "tests/mutants/trial.h"

namespace segfold::test {
namespace {

constexpr std::string_view kHelp =
    R"(stage_mutants [FILE...] [flags]    how many small faults of the stages the tests of stages find

Without a file all of kernels/ but the probes; FILE is a path below it, or the beginning of one: stages, parts/reduce/run
    --results FILE   one line for each mutant that has been tried (stage_mutants.tsv); what is in it is not tried again
                     but for what has survived a lower level
    --level N        0: the cases that find most; 1: every text once; 2: every shape, other configurations (2)
    --jobs N         processes at a time (2)
    --seconds N      most that one mutant may take (300)
    --sample N       only N of those that are found, by lot, without results; exit code 1 if one survives
    --check          beside --sample: what 'segfold check --stage' finds of the sample without an operator; what it does
                     not find is tried by the cases, and the page says of what they find why a check does not; exit code
                     1 where unchecked.txt does not say it. With --results FILE a run that ends early goes on where it was
    --seed S         of the sample (0)
    --list           print the mutants, try none
    --report         print the table of what is in the results, try none
    --unchanged      run the stages' cases on the texts as they are; exit code 1 if something is found

In the table: killed, equivalent (nothing can tell them from the text, known.txt says why), surviving, not run; the score is
killed / (killed + surviving).
)";

constexpr int kSkipped = 77;  // as CTest is told

struct Request {
    std::vector<std::string> files;
    std::string results;
    TrialOptions trial;
    std::size_t sample = 0;
    std::uint64_t seed = 0;
    bool only_list = false, only_report = false, unchanged = false;
};

std::size_t number_of(const std::string& flag, const std::string& word, std::size_t least = 1)
{
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < least)
        throw InputError(flag + " takes a whole number from " + std::to_string(least) + " on, not '" + word +
                         "'");
    return value;
}

Request request_of(const std::vector<std::string>& words)
{
    Request request;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[i];
        const auto value = [&]() -> const std::string& {
            if (i + 1 == words.size())
                throw InputError(word + " takes a value");
            return words[++i];
        };
        if (word == "--results")
            request.results = value();
        else if (word == "--level")
            request.trial.level = static_cast<int>(number_of(word, value(), 0));
        else if (word == "--jobs")
            request.trial.jobs = static_cast<int>(number_of(word, value()));
        else if (word == "--seconds")
            request.trial.seconds = static_cast<double>(number_of(word, value()));
        else if (word == "--sample")
            request.sample = number_of(word, value());
        else if (word == "--seed")
            request.seed = number_of(word, value(), 0);
        else if (word == "--check")
            request.trial.by_check = true;
        else if (word == "--list")
            request.only_list = true;
        else if (word == "--report")
            request.only_report = true;
        else if (word == "--unchanged")
            request.unchanged = true;
        else if (word.starts_with("-"))
            throw InputError("unknown flag " + word + "; --help lists all");
        else
            request.files.push_back(word);
    }
    return request;
}

std::vector<Mutant> mutants_for(const Request& request)
{
    std::vector<Mutant> all;
    for (const auto& file : mutated_files()) {
        const auto is_wanted = [&](const std::string& wanted) { return file.starts_with(wanted); };
        if (!request.files.empty() && std::ranges::none_of(request.files, is_wanted))
            continue;
        auto some = mutants_of(file, text_of(file));
        std::ranges::move(some, std::back_inserter(all));
    }
    if (all.empty())
        throw InputError("no file of kernels/ begins with " + request.files.front());
    return all;
}

std::string read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The results of a file by the mutants' identities.
std::map<std::string, Outcome> read_results(const std::string& path)
{
    std::map<std::string, Outcome> results;
    std::istringstream lines(read_file(path));
    std::string line;
    while (std::getline(lines, line)) {
        std::vector<std::string> fields;
        std::istringstream rest(line);
        for (std::string field; std::getline(rest, field, '\t');)
            fields.push_back(field);
        if (fields.size() < 8)
            continue;  // a line that was cut off
        Outcome outcome;
        outcome.verdict = verdict_from(fields[5]);
        outcome.level = std::stoi(fields[6]);
        outcome.seconds = std::stod(fields[7]);
        outcome.detail = fields.size() > 8 ? fields[8] : "";
        results[fields[0] + "\t" + fields[1] + "\t" + fields[2] + "\t" + fields[3] + "\t" + fields[4]] =
            outcome;
    }
    return results;
}

struct Counts {
    int mutants = 0, killed = 0, equivalent = 0, surviving = 0, broken = 0, not_run = 0;
    double seconds = 0;

    void operator+=(const Counts& other)
    {
        mutants += other.mutants;
        killed += other.killed;
        equivalent += other.equivalent;
        surviving += other.surviving;
        broken += other.broken;
        not_run += other.not_run;
        seconds += other.seconds;
    }
};

void print_row(const std::string& file, const Counts& counts)
{
    const int tried = counts.killed + counts.surviving;
    char row[200];
    std::snprintf(row, sizeof row, "| `%s` | %d | %d | %d | %d | %d | %d | %s | %.0f |\n", file.c_str(),
                  counts.mutants, counts.killed, counts.equivalent, counts.surviving, counts.broken,
                  counts.not_run,
                  tried == 0 ? "-"
                             : (std::to_string(counts.killed * 1000 / tried / 10) + "." +
                                std::to_string(counts.killed * 1000 / tried % 10))
                                   .c_str(),
                  counts.seconds);
    std::cout << row;
}

/// The table, then what survives.
void print_report(const std::vector<Mutant>& mutants, const std::map<std::string, Outcome>& results,
                  const std::vector<KnownMutant>& known)
{
    std::map<std::string, Counts> by_file;
    std::string survivors;
    for (const auto& mutant : mutants) {
        auto& counts = by_file[mutant.file];
        ++counts.mutants;
        const auto* entry = find_known(known, mutant);
        const auto result = results.find(identity_of(mutant));
        if (result != results.end())
            counts.seconds += result->second.seconds;
        const auto verdict = result == results.end() ? Verdict::unfinished : result->second.verdict;
        if (verdict == Verdict::killed) {
            ++counts.killed;
            if (entry != nullptr)
                survivors += print(mutant) + "  (killed, although known.txt says that it is not)\n";
        } else if (verdict == Verdict::equivalent || (entry != nullptr && entry->is_equivalent)) {
            ++counts.equivalent;
        } else if (verdict == Verdict::broken) {
            ++counts.broken;
        } else if (entry != nullptr) {
            ++counts.surviving;
            survivors += print(mutant) + "  (" + entry->reason + ")\n";
        } else if (verdict == Verdict::unfinished) {
            ++counts.not_run;
        } else {
            ++counts.surviving;
            survivors += print(mutant) + "  (" + name(verdict) + " at level " +
                         std::to_string(result->second.level) + ")\n";
        }
    }
    std::cout
        << "| file | mutants | killed | equivalent | surviving | do not compile | not run | score, % | s |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    Counts all;
    for (const auto& [file, counts] : by_file) {
        print_row(file, counts);
        all += counts;
    }
    print_row("all", all);
    std::cout << "\n" << survivors;
}

/// A number by which mutants are drawn, the same everywhere and whatever other mutants there are.
std::uint64_t lot_of(const Mutant& mutant, std::uint64_t seed)
{
    std::uint64_t hash = 14695981039346656037u ^ seed;
    for (const char c : identity_of(mutant))
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

/// True for what nothing has told from the text.
bool is_unfound(const Outcome& outcome)
{
    return outcome.verdict == Verdict::survived || outcome.verdict == Verdict::unreached;
}

/// The line of a file of results.
std::string result_line(const Mutant& mutant, const Outcome& outcome)
{
    std::ostringstream line;
    line << identity_of(mutant) << "\t" << name(outcome.verdict) << "\t" << outcome.level << "\t"
         << outcome.seconds << "\t" << outcome.detail << "\n";
    return line.str();
}

/// The page of a sample that is tried by checks, and by the cases where those find nothing.
int check_sample(const Request& request, const std::vector<Mutant>& mutants)
{
    const std::string path = SEGFOLD_SOURCE_DIR "/tests/mutants/unchecked.txt";
    const auto reasons = read_known(path, read_file(path));
    std::vector<Mutant> left, tried;
    std::size_t num_found = 0, num_broken = 0, num_unfinished = 0;
    const auto take = [&](const Mutant& mutant, const Outcome& outcome) {
        num_found += outcome.verdict == Verdict::killed;
        num_broken += outcome.verdict == Verdict::broken;
        num_unfinished += outcome.verdict == Verdict::unfinished;
        if (is_unfound(outcome))
            left.push_back(mutant);
    };
    const auto results =
        request.results.empty() ? std::map<std::string, Outcome>() : read_results(request.results);
    for (const auto& mutant : mutants) {
        const auto result = results.find(identity_of(mutant));
        if (result == results.end() || is_unfound(result->second) ||
            result->second.verdict == Verdict::unfinished)
            tried.push_back(mutant);
        else
            take(mutant, result->second);
    }
    std::ofstream file;
    if (!request.results.empty())
        file.open(request.results, std::ios::app);
    try_mutants(tried, request.trial, [&](const Mutant& mutant, const Outcome& outcome) {
        take(mutant, outcome);
        file << result_line(mutant, outcome) << std::flush;
        std::cerr << name(outcome.verdict) << "  " << print(mutant) << "  (" << outcome.detail << ", "
                  << outcome.seconds << " s)\n";
    });
    auto by_cases = request.trial;
    by_cases.by_check = false;
    std::string missed, unfound;
    std::size_t num_missed = 0, num_unexplained = 0;
    try_mutants(left, by_cases, [&](const Mutant& mutant, const Outcome& outcome) {
        const auto* reason = find_known(reasons, mutant);
        num_unexplained += reason == nullptr;
        if (is_unfound(outcome)) {
            unfound += "* `" + print(mutant) +
                       "`: " + (reason == nullptr ? "no reason is known" : reason->reason) + "\n";
            return;
        }
        ++num_missed;
        missed += "* `" + print(mutant) + "`: " +
                  (reason == nullptr ? "no reason is known. Cases: " + outcome.detail : reason->reason) +
                  "\n";
    });
    std::cout << "# Checks of " << mutants.size() << " mutants\n\nWritten by `stage_mutants --check --sample "
              << request.sample << " --seed " << request.seed
              << "`: drawn of those that `known.txt` does not list. " << num_found
              << " are found by `segfold check --stage STAGE`, " << num_broken << " do not compile, "
              << num_unfinished << " were not finished, and " << num_missed
              << " are found by the cases alone.\n";
    if (!missed.empty())
        std::cout << "\n## Found by the cases alone\n\n" << missed;
    if (!unfound.empty())
        std::cout << "\n## Found by neither\n\n" << unfound;
    return num_unexplained == 0 ? 0 : 1;
}

int try_sample(const Request& request, std::vector<Mutant> mutants, const std::vector<KnownMutant>& known)
{
    if (std::getenv("CXX") == nullptr && !find_program("g++") && !find_program("clang++")) {
        std::cout << "there is no C++ compiler for simt\n";
        return kSkipped;
    }
    std::erase_if(mutants, [&](const auto& mutant) { return find_known(known, mutant) != nullptr; });
    std::ranges::sort(mutants, {}, [&](const Mutant& mutant) { return lot_of(mutant, request.seed); });
    mutants.resize(std::min(mutants.size(), request.sample));
    if (request.trial.by_check)
        return check_sample(request, mutants);
    int num_surviving = 0;
    try_mutants(mutants, request.trial, [&](const Mutant& mutant, const Outcome& outcome) {
        num_surviving += is_unfound(outcome);
        std::cout << name(outcome.verdict) << "  " << print(mutant) << "  (" << outcome.detail << ")\n";
    });
    std::cout << num_surviving << " of " << mutants.size() << " survive\n";
    return num_surviving == 0 ? 0 : 1;
}

int try_texts(const Request& request)
{
    int code = 0;
    for (const auto& stage : Catalogue::standard().stages()) {
        const auto is_wanted = [&](const std::string& wanted) { return stage.file.starts_with(wanted); };
        if (!request.files.empty() && std::ranges::none_of(request.files, is_wanted))
            continue;
        for (const auto& fault : try_unchanged(stage.name, request.trial)) {
            std::cout << fault << std::endl;
            code = 1;
        }
    }
    return code;
}

int run(const Request& request)
{
    if (request.unchanged)
        return try_texts(request);
    const std::string path = SEGFOLD_SOURCE_DIR "/tests/mutants/known.txt";
    const auto known = read_known(path, read_file(path));
    auto mutants = mutants_for(request);
    if (request.only_list) {
        for (const auto& mutant : mutants)
            std::cout << print(mutant) << "\n";
        return 0;
    }
    if (request.trial.by_check && request.sample == 0)
        throw InputError("--check is of a sample; give --sample N beside it");
    if (request.sample > 0)
        return try_sample(request, std::move(mutants), known);
    const auto kept = request.results.empty() ? std::string("stage_mutants.tsv") : request.results;
    auto results = read_results(kept);
    const auto all = mutants;
    std::erase_if(mutants, [&](const auto& mutant) {
        if (request.only_report || find_known(known, mutant) != nullptr)
            return true;
        const auto result = results.find(identity_of(mutant));
        if (result == results.end() || result->second.verdict == Verdict::unfinished)
            return false;
        const bool may_be_found =
            result->second.verdict == Verdict::survived || result->second.verdict == Verdict::unreached;
        return !may_be_found || result->second.level >= request.trial.level;
    });
    std::ofstream file(kept, std::ios::app);
    std::size_t count = 0;
    try_mutants(mutants, request.trial, [&](const Mutant& mutant, const Outcome& outcome) {
        file << result_line(mutant, outcome) << std::flush;
        results[identity_of(mutant)] = outcome;
        std::cerr << ++count << " of " << mutants.size() << ": " << name(outcome.verdict) << "  "
                  << print(mutant) << "  (" << outcome.detail << ")\n";
    });
    print_report(all, results, known);
    return 0;
}

}  // namespace
}  // namespace segfold::test

int main(int count, char** words)
{
    try {
        const std::vector<std::string> arguments(words + 1, words + count);
        if (std::ranges::find(arguments, "--help") != arguments.end()) {
            std::cout << segfold::test::kHelp;
            return 0;
        }
        return segfold::test::run(segfold::test::request_of(arguments));
    } catch (const segfold::Error& error) {
        std::cerr << error.what() << "\n";
        return 2;
    }
}
