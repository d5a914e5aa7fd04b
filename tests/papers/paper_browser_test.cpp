// Pages of papers in a real browser: on narrow and wide screens, light and dark.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runtime/cli/charts/chart_files.h"
#include "runtime/support/processes/process.h"
#include "tests/cli/cli_program.h"

namespace segfold::papers::paper_browser_test {
namespace {

/// Bars and lines, few and many.
constexpr std::array<std::string_view, 3> kPapers = {"zuo2009", "butz2025", "badgujar2014"};

/// The browser there is, by path.
std::optional<std::string> find_browser()
{
    for (const auto* name : {"chromium", "chromium-browser", "google-chrome"})
        if (auto path = find_program(name))
            return path;
    return std::nullopt;
}

std::string output_of(const std::string& command)
{
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr)
        return text;
    char part[4096];
    for (std::size_t count = 0; (count = fread(part, 1, sizeof part, pipe)) > 0;)
        text.append(part, count);
    pclose(pipe);
    return text;
}

/// Opens every page with all of its tables and writes what it finds as JSON in the element "found": how far a
/// page goes beyond its width, how many charts are drawn, the widest one, and colours.
constexpr std::string_view kScript = R"(<pre id="found"></pre>
<script>
window.onload = async () => {
  const found = {};
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument, view = frame.contentWindow;
    const places = [...page.querySelectorAll('.chart')], drawn = () => page.querySelectorAll('.chart svg');
    for (let tries = 0; tries < 200 && drawn().length < places.length; ++tries)
      await new Promise(done => setTimeout(done, 50));
    for (const details of page.querySelectorAll('details')) details.open = true;
    const colour = (selector, property) => view.getComputedStyle(page.querySelector(selector))[property];
    found[frame.id] = {
      overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
      charts: places.length, drawn: drawn().length, tables: page.querySelectorAll('table').length,
      outside: [...drawn()].filter(svg => svg.getBoundingClientRect().width > svg.parentNode.clientWidth + 1).length,
      narrow: [...drawn()].filter(svg => svg.getBoundingClientRect().width < 0.6 * svg.parentNode.clientWidth).length,
      asked: view.performance.getEntriesByType('resource').length,
      background: colour('body', 'backgroundColor'), ink: colour('.chart svg text', 'fill')};
  }
  document.getElementById('found').textContent = JSON.stringify(found);
};
</script>
)";

/// Puts the Python of the build before others, if it draws.
void prefer_python_of_build()
{
    const std::string python = SEGFOLD_PYTHON_PROGRAM;
    if (python.find('/') == std::string::npos || run_process({python, "-c", "import vl_convert"}).status != 0)
        return;
    const char* path = std::getenv("PATH");
    setenv("PATH", (python.substr(0, python.rfind('/')) + ":" + (path ? path : "")).c_str(), 1);
}

class PaperBrowser : public testing::Test {
protected:
    void SetUp() override
    {
        const auto browser = find_browser();
        if (!browser)
            GTEST_SKIP() << "there is no chromium";
        browser_ = *browser;
        prefer_python_of_build();
        std::string frames;
        for (const auto paper : kPapers) {
            const std::string name(paper);
            const auto page = name + ".html";
            const auto run = folder_.run({"paper", name, "--measured", "--plot", page});
            if (run.errors.find("has vl-convert") != std::string::npos)
                GTEST_SKIP() << "no Python has vl-convert";
            ASSERT_EQ(run.exit_code, 0) << run.errors;
            for (const auto* width : {"320", "1600"})
                frames += "<iframe id=\"" + name + " " + width + "\" src=\"" + page +
                          "\" style=\"border: 0; width: " + width + "px; height: 900px\"></iframe>\n";
        }
        (void)folder_.write("all.html", "<!DOCTYPE html>\n" + frames + std::string(kScript));
    }

    /// What the script finds; `scheme` is 0 for dark and 1 for light.
    [[nodiscard]] nlohmann::json look(int scheme) const
    {
        const auto text = output_of(
            "timeout 120 '" + browser_ + "' --headless --no-sandbox --disable-gpu --user-data-dir='" +
            folder_.file("profile") + "' --allow-file-access-from-files --window-size=1700,2000 " +
            "--virtual-time-budget=60000 --blink-settings=preferredColorScheme=" + std::to_string(scheme) +
            " --dump-dom 'file://" + folder_.file("all.html") + "' 2>/dev/null");
        const std::string begin = "<pre id=\"found\">";
        const auto from = text.find(begin);
        if (from == std::string::npos)
            return {};
        const auto first = from + begin.size();
        return nlohmann::json::parse(text.substr(first, text.find("</pre>", first) - first), nullptr, false);
    }

    test::ProgramFolder folder_;
    std::string browser_;
};

TEST_F(PaperBrowser, PagesFitScreensWideAndNarrowLightAndDark)
{
    for (const int scheme : {0, 1}) {
        const auto found = look(scheme);
        ASSERT_EQ(found.size(), 2 * kPapers.size()) << found;
        for (const auto& [page, facts] : found.items()) {
            SCOPED_TRACE(page + (scheme == 0 ? ", dark" : ", light"));
            EXPECT_EQ(facts["overflow"], 0);
            EXPECT_GT(facts["charts"], 0);
            EXPECT_EQ(facts["drawn"], facts["charts"]);
            EXPECT_EQ(facts["tables"], facts["charts"]);
            EXPECT_EQ(facts["asked"], 0) << "a page needs nothing from elsewhere";
            EXPECT_EQ(facts["outside"], 0) << "a chart is wider than its place";
            EXPECT_EQ(facts["narrow"], 0) << "a chart does not fill its place";
            EXPECT_EQ(facts["background"], scheme == 0 ? "rgb(21, 24, 28)" : "rgb(255, 255, 255)");
            EXPECT_EQ(facts["ink"], scheme == 0 ? "rgb(232, 232, 232)" : "rgb(26, 26, 26)");
        }
    }
}

}  // namespace
}  // namespace segfold::papers::paper_browser_test
