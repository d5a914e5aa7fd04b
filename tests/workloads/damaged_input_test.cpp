// Files that something has damaged, and command lines that nobody would write: refused, or taken for what
// they are.
//
// SEGFOLD_FUZZ_CASES=N tries N of each kind instead of some hundreds; SEGFOLD_FUZZ_SEED=S begins elsewhere.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <sstream>

#include "runtime/backends/cuda/compile/compiler_identity.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/check/baseline.h"
#include "runtime/cli/verbs.h"
#include "runtime/data/formats/matrix_market.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/session/choice/record.h"
#include "tests/common/files.h"

namespace segfold::test::damaged_input_test {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t standard)
{
    const char* text = std::getenv(variable);
    return text == nullptr ? standard : std::stoull(text);
}

/// Draws the same lots in every run.
class Lots {
public:
    explicit Lots(std::uint64_t number) : random_(number_of("SEGFOLD_FUZZ_SEED", 1) * 1000003 + number) {}

    std::size_t below(std::size_t count) { return random_() % count; }
    template <class T>
    const T& one_of(const std::vector<T>& all)
    {
        return all[below(all.size())];
    }

private:
    std::mt19937_64 random_;
};

/// Up to three damages: a byte changed, bytes lost at the end or in the middle, bytes added, bytes repeated.
std::string damaged(std::string bytes, Lots& lots)
{
    const std::vector<std::string> tokens = {"9", "-1", "1e999", "\n", "\"", "{",
                                             "[", "0x", "nan",   ",",  "\0", "PK"};
    for (auto count = 1 + lots.below(3); count > 0 && !bytes.empty(); --count) {
        const auto at = lots.below(bytes.size());
        const auto some = 1 + lots.below(std::min<std::size_t>(bytes.size() - at, 64));
        switch (lots.below(6)) {
            case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << lots.below(8))); break;
            case 1: bytes[at] = static_cast<char>(lots.below(256)); break;
            case 2: bytes.resize(at); break;
            case 3: bytes.erase(at, some); break;
            case 4: bytes.insert(at, lots.one_of(tokens)); break;
            default: bytes.insert(at, bytes.substr(at, some));
        }
    }
    return bytes;
}

constexpr std::size_t kNothing = ~std::size_t{0};

/// Reads damaged files: `count` gives how many elements one has; it may refuse, but not say another number
/// than of the whole one.
void expect_no_surprise(const std::string& whole, const std::function<std::size_t(const std::string&)>& count)
{
    const auto expected = count(whole);
    std::size_t refused = 0;
    const auto cases = number_of("SEGFOLD_FUZZ_CASES", 250);
    for (std::uint64_t number = 0; number < cases; ++number) {
        Lots lots(number);
        const auto bytes = damaged(whole, lots);
        try {
            const auto found = count(bytes);
            EXPECT_TRUE(found == expected || found == kNothing) << "case " << number << ": " << found;
            refused += found == kNothing ? 1 : 0;
        } catch (const InputError&) {
            ++refused;
        } catch (const std::exception& error) {
            ADD_FAILURE() << "case " << number << ": " << error.what();
        }
    }
    EXPECT_GT(refused, cases / 8);
}

TEST(DamagedInput, Arrays)
{
    const TemporaryFolder folder;
    for (const auto type : {Type::u8, Type::f32, Type::i64}) {
        const auto path = folder.file("x.npy");
        write_npy(path, Array(type, 40));
        expect_no_surprise(read_text(path), [&](const std::string& bytes) {
            return read_array(folder.write("damaged.npy", bytes)).length();
        });
    }
}

TEST(DamagedInput, Archives)
{
    const TemporaryFolder folder;
    for (const bool deflate : {false, true}) {
        const auto path = folder.file("x.npz");
        std::vector<NamedArray> arrays;
        arrays.push_back({"x", make_array<float>(Type::f32, {1, 2, 3, 4, 5, 6, 7, 8, 9})});
        arrays.push_back({"y", make_array<std::int16_t>(Type::i16, {1, 2, 3})});
        write_npz(path, arrays, {.deflate = deflate});
        expect_no_surprise(read_text(path), [&](const std::string& bytes) {
            return read_array(folder.write("damaged.npz", bytes) + ":x").length();
        });
    }
}

TEST(DamagedInput, Matrices)
{
    const TemporaryFolder folder;
    expect_no_surprise(
        "%%MatrixMarket matrix coordinate real general\n% comment\n3 4 5\n1 1 1.5\n1 4 -2e3\n2 2 7\n"
        "3 1 0.25\n3 3 1\n",
        [&](const std::string& bytes) {
            const auto matrix = read_matrix_market(folder.write("damaged.mtx", bytes), Type::f32);
            return matrix.values.length();
        });
}

std::string record_lines()
{
    TuningRecord record;
    record.device = {"A GPU", 90, 132, 1 << 25, 5120, 1980000, 2619000};
    record.driver = "580.1";
    record.compiler = "NVRTC 13.0";
    record.op = "sum_f32";
    record.problem.form = "offsets";
    record.layout = "uniform=32";
    record.shape = {1024, 32, 32};
    record.point = {"tile_scan", {{"block_threads", 256}, {"items_per_thread", 8}}};
    record.phase = TuningPhase::chosen;
    record.measurement.outcome = MeasurementOutcome::correct;
    record.measurement.milliseconds = 0.125;
    record.measurement.samples = {0.125, 0.25};
    return print(record) + "\n" + print(record) + "\n";
}

TEST(DamagedInput, TuningRecords)
{
    expect_no_surprise(record_lines(), [](const std::string& bytes) {
        // A line that is lost as a whole was perhaps never written; of all others each is a row or a
        // complaint.
        std::istringstream text(bytes);
        std::size_t lines = 0;
        for (std::string line; std::getline(text, line);)
            lines += line.find_first_not_of(" \t\r") == std::string::npos ? 0 : 1;
        const auto records = parse_records("r.jsonl", bytes);
        const auto found = records.rows.size() + records.complaints.size();
        return found != lines ? found + 100 : records.complaints.empty() ? std::size_t{2} : kNothing;
    });
}

TEST(DamagedInput, Baselines)
{
    regress::Baseline baseline;
    regress::StaticCost cost;
    cost.op = "sum_f32";
    cost.stage = "tile_scan";
    cost.form = "offsets";
    cost.architecture = "sm_90";
    baseline.static_costs = {"NVRTC 13.0", {cost, cost, cost}};
    baseline.times.push_back({"A GPU", "580.1", "NVRTC 13.0", 1024, {}});
    baseline.times[0].cases.push_back(
        {"sum_f32", "tile_scan", "uniform=4", "whole", "", {{1.5, 1.25}, {1.125}}, ""});
    expect_no_surprise(print(baseline), [](const std::string& bytes) {
        const auto read = regress::parse_baseline("b.json", bytes);
        std::size_t cases = 0;
        for (const auto& device : read.times)
            cases += device.cases.size();
        return (read.static_costs ? 100 * read.static_costs->costs.size() : 0) + cases;
    });
}

TEST(DamagedInput, KernelEntriesAndCompilers)
{
    cuda::KernelEntry entry;
    entry.key = std::string(64, 'a');
    entry.name = "tile_scan.cu";
    entry.architecture = "sm_90";
    entry.compiled.cubin = std::vector<char>(200, 'x');
    expect_no_surprise(cuda::encode(entry), [](const std::string& bytes) {
        return cuda::decode_entry(bytes).compiled.cubin.size();
    });
    expect_no_surprise(
        cuda::encode(cuda::CompilerIdentity{"13.0", {80, 90}, "/usr/lib/libnvrtc.so", "1 2 3"}),
        [](const std::string& bytes) { return cuda::decode_identity(bytes).architectures.size(); });
}

/// What stands around the program's flags on a command line.
std::vector<std::string> command_line(Lots& lots)
{
    const std::vector<std::string> verbs = {"run",       "run",   "run",  "emit", "stages",
                                            "operators", "cache", "help", "rnu"};
    const std::vector<std::string> flags = {"--layout",
                                            "--elements",
                                            "--seed",
                                            "--values",
                                            "--index-bits",
                                            "--input",
                                            "--stage",
                                            "--set",
                                            "--op",
                                            "--type",
                                            "--show",
                                            "--sort",
                                            "--labels",
                                            "--check",
                                            "--explain",
                                            "--json",
                                            "--output",
                                            "--identity",
                                            "--lift",
                                            "--finish",
                                            "--at-launch",
                                            "--keys",
                                            "--no-tune",
                                            "--device",
                                            "--markdown",
                                            "--reproducible",
                                            "--schedule-seed",
                                            "--commutative",
                                            "--nonsense",
                                            "-x",
                                            "--"};
    const std::vector<std::string> values = {"sum",
                                             "mean_variance",
                                             "argmax",
                                             "uniform=4",
                                             "uniform=2^3",
                                             "uniform=0",
                                             "offsets=none.npy",
                                             "keys=x.npy",
                                             "whole",
                                             "zipf:exponent=1.9",
                                             "giant:half",
                                             "geometric:mean=1e999",
                                             "4096",
                                             "2^10",
                                             "1e3",
                                             "-1",
                                             "2^63",
                                             "1e999",
                                             "nan",
                                             "x=x.npy",
                                             "x.npy",
                                             "x.npy:y",
                                             "a.npz",
                                             "a + b",
                                             "min(a, b",
                                             "f32",
                                             "i8",
                                             "bf16",
                                             "32",
                                             "block_threads=7",
                                             "tile_scan",
                                             "thread_per_segment",
                                             "result",
                                             "out.npy",
                                             ".",
                                             "",
                                             "list",
                                             "stat",
                                             "\x1b[2J",
                                             "\xff\xfe",
                                             "edge",
                                             "uniform",
                                             "rows=a.mtx",
                                             "flags=x.npy",
                                             "lengths=x.npy",
                                             "-"};
    std::vector<std::string> words = {lots.one_of(verbs)};
    if (lots.below(3) != 0)
        words.push_back(
            lots.one_of(std::vector<std::string>{"sum", "sum_i32", "argmax", "log_sum_exp", "dot"}));
    for (auto count = lots.below(6); count > 0; --count) {
        words.push_back(lots.one_of(flags));
        if (lots.below(4) != 0)
            words.push_back(lots.one_of(values));
    }
    // The quick back ends, and never more than a moment's data.
    if (words[0] == "run")
        words.insert(words.end(),
                     {"--backend", lots.one_of(std::vector<std::string>{"reference", "thrust"})});
    if (words[0] == "run" && std::ranges::find(words, "--elements") == words.end())
        words.insert(words.end(), {"--elements", "2^8"});
    return words;
}

/// While it lives, the process's two streams lead nowhere, and its standard input is empty.
class Silence {
public:
    Silence() : output_(dup(STDOUT_FILENO)), errors_(dup(STDERR_FILENO))
    {
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            dup2(nowhere, stream);
        close(nowhere);
    }
    ~Silence()
    {
        dup2(output_, STDOUT_FILENO);
        dup2(errors_, STDERR_FILENO);
        close(output_);
        close(errors_);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    int output_, errors_;
};

TEST(DamagedInput, CommandLines)
{
    const TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.file(""));
    write_npy("x.npy", make_array<float>(Type::f32, {1, 2, 3, 4, 5, 6, 7, 8}));
    (void)folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
    (void)folder.write("a.npz", "PK\x03\x04 and nothing");
    const auto cases = number_of("SEGFOLD_FUZZ_CASES", 300);
    std::size_t done = 0;
    for (std::uint64_t number = 0; number < cases; ++number) {
        Lots lots(number);
        const auto words = command_line(lots);
        std::string shown;
        for (const auto& word : words)
            shown += " '" + word + "'";
        std::string failure;
        {
            const Silence silence;
            try {
                const int code = cli::dispatch(words);
                done += code == 0 ? 1 : 0;
                if (code < 0 || code > 3)
                    failure = "ends with " + std::to_string(code);
            } catch (const Error& error) {
                if (error.exit_code() == 4)
                    failure = error.what();
            } catch (const std::exception& error) {
                failure = error.what();
            }
        }
        EXPECT_EQ(failure, "") << "case " << number << ":" << shown;
    }
    EXPECT_GT(done, cases / 20);
    std::filesystem::current_path(before);
}

}  // namespace
}  // namespace segfold::test::damaged_input_test
