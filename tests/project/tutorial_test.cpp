// The tutorial of runtime/examples and the guides beside it: their listings are parts of the programs there,
// and their commands print what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/backends/cuda/driver/device.h"
#include "tests/cli/cli_program.h"
#include "tests/common/files.h"

namespace segfold::test::tutorial_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = SEGFOLD_SOURCE_DIR;
const fs::path kExamples = kSource / "runtime/examples";
const fs::path kGuides = kSource / "docs/guides";
/// Pages of which the commands run one after the other.
const std::vector<fs::path> kPages = {kExamples / "README.md", kGuides / "from_cub.md",
                                      kGuides / "own_stage.md"};

std::vector<std::string> lines_of(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

struct Listing {
    std::string language;  ///< what stands behind the fence
    int number = 0;        ///< of its first line in the page
    std::vector<std::string> lines = {};
};

std::vector<Listing> listings_of(const fs::path& page)
{
    std::vector<Listing> listings;
    bool is_open = false;
    int number = 0;
    for (const auto& line : lines_of(read_text(page.string()))) {
        ++number;
        if (line.starts_with("```")) {
            if (!is_open)
                listings.push_back({line.substr(3), number + 1});
            is_open = !is_open;
        } else if (is_open) {
            listings.back().lines.push_back(line);
        }
    }
    return listings;
}

/// Without the blanks that all lines begin with.
std::vector<std::string> shifted_left(std::vector<std::string> lines)
{
    std::size_t margin = std::string::npos;
    for (const auto& line : lines)
        margin = std::min(margin, line.find_first_not_of(' '));
    for (auto& line : lines)
        line = margin < line.size() ? line.substr(margin) : "";
    return lines;
}

/// True where `part` stands in `lines` in one piece, however far to the right.
bool stands_in(const std::vector<std::string>& part, const std::vector<std::string>& lines)
{
    const auto wanted = shifted_left(part);
    for (std::size_t begin = 0; begin + part.size() <= lines.size(); ++begin) {
        const auto first = lines.begin() + static_cast<std::ptrdiff_t>(begin);
        if (shifted_left({first, first + static_cast<std::ptrdiff_t>(part.size())}) == wanted)
            return true;
    }
    return false;
}

std::vector<fs::path> example_sources()
{
    std::vector<fs::path> sources;
    for (const auto& entry : fs::directory_iterator(kExamples))
        if (entry.path().extension() == ".cpp" || entry.path().extension() == ".cu")
            sources.push_back(entry.path());
    return sources;
}

void expect_parts_of_examples(const fs::path& page, std::size_t count)
{
    std::size_t found = 0;
    for (const auto& listing : listings_of(page)) {
        if (listing.language != "cpp")
            continue;
        ++found;
        const auto sources = example_sources();
        EXPECT_TRUE(std::ranges::any_of(sources,
                                        [&](const fs::path& source) {
                                            return stands_in(listing.lines,
                                                             lines_of(read_text(source.string())));
                                        }))
            << page.string() << ":" << listing.number << ": no program of runtime/examples has these lines";
    }
    EXPECT_EQ(found, count) << page;
}

TEST(Tutorial, ListingsInCppArePartsOfTheExamples)
{
    EXPECT_TRUE(stands_in({"a", " b"}, {"x", "  a", "   b", "y"}));
    EXPECT_FALSE(stands_in({"a", "b"}, {"  a", "   b"}));
    expect_parts_of_examples(kExamples / "README.md", 10);
    expect_parts_of_examples(kGuides / "from_cub.md", 3);
    expect_parts_of_examples(kGuides / "own_stage.md", 1);
    expect_parts_of_examples(kSource / "README.md", 1);
}

TEST(Tutorial, ItsProjectIsTheOneThatIsTested)
{
    std::size_t found = 0;
    const auto project = lines_of(read_text((kSource / "tests/install/CMakeLists.txt").string()));
    for (const auto& listing : listings_of(kExamples / "README.md")) {
        if (listing.language != "cmake")
            continue;
        ++found;
        EXPECT_TRUE(stands_in(listing.lines, project)) << "README.md:" << listing.number;
    }
    EXPECT_EQ(found, 1u);
}

/// Lines of a program without its operator, its comments, its includes, what it does with errors and empty
/// lines.
int counted_lines(const std::string& text)
{
    int count = 0;
    bool in_operator = false;
    for (const auto& line : lines_of(text)) {
        const auto first = line.find_first_not_of(' ');
        if (first == std::string::npos || line.starts_with("#include") ||
            line.substr(first).starts_with("//"))
            continue;
        if (line.starts_with("} catch"))
            break;
        if (line.find(": segfold::State {") != std::string::npos ||
            line.starts_with("const segfold::Operator "))
            in_operator = true;
        if (!in_operator)
            ++count;
        if (line == "};" || line == "});")
            in_operator = false;
    }
    return count;
}

TEST(Tutorial, ExamplesAreShort)
{
    EXPECT_EQ(counted_lines("#include <a>\n// b\n\nstruct S : segfold::State {\n    int a;\n};\nconst "
                            "segfold::Operator o =\n    f();\n});\nint main()\n{}\n"),
              2);
    int programs = 0;
    for (const auto& source : example_sources()) {
        if (source.extension() != ".cpp")
            continue;  // CUB's side is not ours to shorten
        ++programs;
        EXPECT_LE(counted_lines(read_text(source.string())), 25) << source;
    }
    EXPECT_EQ(programs, 8);
}

/// What differs between machines: the number of threads, and whether the program was built with Thrust.
std::string normalised(const std::string& line)
{
    static const std::regex kThreads("[0-9]+ threads");
    const auto text = line.starts_with("thrust") ? "thrust" : std::regex_replace(line, kThreads, "N threads");
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// Whether lines are those of a listing, in which "..." stands for any number of lines.
bool fits(std::span<const std::string> found, std::span<const std::string> shown)
{
    if (shown.empty())
        return found.empty();
    if (shown.front() == "...")
        return fits(found, shown.subspan(1)) || (!found.empty() && fits(found.subspan(1), shown));
    return !found.empty() && normalised(found.front()) == normalised(shown.front()) &&
           fits(found.subspan(1), shown.subspan(1));
}

/// A command of a listing with what follows it there.
struct Command {
    std::string text;
    std::string place;  ///< page and line, for messages
    bool needs_gpu = false;
    std::vector<std::string> output = {};
};

/// The commands of all pages.
std::vector<Command> commands()
{
    std::vector<Command> commands;
    for (const auto& page : kPages) {
        for (const auto& listing : listings_of(page)) {
            if (!listing.language.starts_with("console"))
                continue;
            int number = listing.number;
            for (const auto& line : listing.lines) {
                if (line.starts_with("$ "))
                    commands.push_back({line.substr(2),
                                        page.filename().string() + ":" + std::to_string(number),
                                        listing.language == "console gpu"});
                else
                    commands.back().output.push_back(line);
                ++number;
            }
        }
    }
    return commands;
}

/// The folder of a reader: the programs, the stages, and the files that the page shows.
class ReadersFolder : public TemporaryFolder {
public:
    ReadersFolder()
    {
        fs::create_directories(file("bin"));
        fs::create_symlink(SEGFOLD_PROGRAM, file("bin/segfold"));
        for (const auto& source : example_sources()) {
            const auto program = fs::path(SEGFOLD_EXAMPLES) / ("example_" + source.stem().string());
            if (fs::exists(program))
                fs::create_symlink(program, file(source.stem().string()));
        }
        fs::copy(kExamples / "kernels", file("kernels"), fs::copy_options::recursive);
    }

    /// Standard output with standard error, and the exit status in `status`.
    std::vector<std::string> run(const std::string& command, int& status) const
    {
        const auto path = write(".command", "cd '" + file("") + "' && export PATH=\"$PWD/bin:$PATH\" " +
                                                "SEGFOLD_TUNING_DIR=\"$PWD/records\" && " + command + "\n");
        status = std::system(("bash '" + path + "' > '" + file(".found") + "' 2>&1").c_str());
        status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return lines_of(read_text(file(".found")));
    }
};

std::string joined(const std::vector<std::string>& lines)
{
    std::string text;
    for (const auto& line : lines)
        text += line + "\n";
    return text;
}

TEST(Tutorial, ExamplesSayWhatIsWrong)
{
    for (const auto& source : example_sources())
        EXPECT_NE(read_text(source.string()).find("catch (const segfold::Error& error)"), std::string::npos)
            << source;
    if (!cuda::devices().empty())
        GTEST_SKIP() << "a GPU is here, which the example uses";
    int status = 0;
    const auto said = ReadersFolder().run("./tune", status);
    EXPECT_EQ(status, 3);
    ASSERT_FALSE(said.empty());
    EXPECT_EQ(said.front().find("terminate"), std::string::npos) << said.front();
}

TEST(Tutorial, DotsStandForAnyLines)
{
    const std::vector<std::string> found = {"a", "b", "2 threads"};
    const auto shown = [&](const std::vector<std::string>& lines) { return fits(found, lines); };
    EXPECT_TRUE(shown({"a", "b", "16 threads"}));
    EXPECT_TRUE(shown({"...", "b", "..."}));
    EXPECT_FALSE(shown({"a", "b"}));
    EXPECT_FALSE(shown({"...", "c", "..."}));
}

TEST(Tutorial, CommandsPrintWhatItShows)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler, and none is here";
    const ReadersFolder folder;
    int run = 0;
    for (const auto& command : commands()) {
        if (command.needs_gpu)
            continue;
        if (command.text.starts_with("cat ") && !fs::exists(folder.file(command.text.substr(4))))
            (void)folder.write(command.text.substr(4), joined(command.output));
        int status = 0;
        const auto found = folder.run(command.text, status);
        EXPECT_TRUE(fits(found, command.output))
            << command.place << ": " << command.text << "\nends with " << status << " and prints\n"
            << joined(found);
        ++run;
    }
    EXPECT_EQ(run, 18);
}

TEST(Tutorial, CommandsOnAGpuPrintWhatItShows)
{
    if (cuda::devices().empty())
        GTEST_SKIP() << cuda::no_device_reason();
    const ReadersFolder folder;
    for (const auto& command : commands()) {
        if (!command.needs_gpu || (command.text.starts_with("./") && !fs::exists(folder.file(command.text))))
            continue;
        int status = 0;
        const auto found = folder.run(command.text, status);
        const bool may_be_noisy = command.text.find("--baseline") != std::string::npos;
        EXPECT_TRUE(status == 0 || (may_be_noisy && (status == 1 || status == 5))) << status;
        EXPECT_TRUE(fits(found, command.output)) << command.place << ": " << command.text << "\nprints\n"
                                                 << joined(found);
    }
}

/// Without a GPU the words of a command are still read: it ends for want of a device, not for a wrong flag.
TEST(Tutorial, CommandsForAGpuAreWellFormed)
{
    if (!cuda::devices().empty())
        GTEST_SKIP() << "a GPU is here, on which they run";
    const ReadersFolder folder;
    fs::copy(kSource / "runtime/check/baseline/static_costs.json", folder.file("before.json"));
    const auto reason = cuda::no_device_reason();
    int read = 0;
    for (const auto& command : commands()) {
        if (!command.needs_gpu || !command.text.starts_with("segfold "))
            continue;
        int status = 0;
        const bool has_cpu =
            command.text.starts_with("segfold run") || command.text.starts_with("segfold tune");
        const auto on_gpu = has_cpu ? command.text + " --backend cuda" : command.text;
        const auto found = folder.run(on_gpu, status);
        EXPECT_EQ(status, 3) << command.text << "\n" << joined(found);
        EXPECT_NE(joined(found).find(reason.substr(0, reason.find(';'))), std::string::npos) << joined(found);
        ++read;
    }
    EXPECT_EQ(read, 4);
}

}  // namespace
}  // namespace segfold::test::tutorial_test
