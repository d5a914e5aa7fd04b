// Pages of papers in a real browser: on narrow and wide screens, light and dark.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/papers/plot.h"
#include "runtime/support/processes/process.h"
#include "tests/common/files.h"

namespace segfold::papers::paper_browser_test {
namespace {

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
/// page goes beyond its width, which drawings are to be seen, and colours.
constexpr std::string_view kScript = R"(<pre id="found"></pre>
<script>
window.onload = () => {
  const found = {};
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument, view = frame.contentWindow;
    for (const details of page.querySelectorAll('details')) details.open = true;
    const colour = (selector, property) => view.getComputedStyle(page.querySelector(selector))[property];
    const seen = kind => [...page.querySelectorAll('svg.' + kind)].filter(
        svg => svg.getBoundingClientRect().width > 0).length;
    found[frame.id] = {
      overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
      charts: page.querySelectorAll('figure').length, wide: seen('wide'), narrow: seen('narrow'),
      background: colour('body', 'backgroundColor'), paper: colour('rect.paper', 'fill'),
      ink: colour('text.ink', 'fill')};
  }
  document.getElementById('found').textContent = JSON.stringify(found);
};
</script>
)";

class PaperBrowser : public testing::Test {
protected:
    void SetUp() override
    {
        const auto browser = find_browser();
        if (!browser)
            GTEST_SKIP() << "there is no chromium";
        browser_ = *browser;
        std::string frames;
        for (const auto& paper : embedded_papers()) {
            std::vector<const Experiment*> all;
            for (const auto& experiment : paper.experiments)
                all.push_back(&experiment);
            const auto path = SEGFOLD_SOURCE_DIR "/papers/" + paper.measured.front();
            const auto measured = measured_paper(path, read_text(path));
            save_plot(folder_.file(paper.name + ".html"), paper, all, &measured);
            for (const auto* width : {"400", "1000"})
                frames += "<iframe id=\"" + paper.name + " " + width + "\" src=\"" + paper.name +
                          ".html\" style=\"border: 0; width: " + width + "px; height: 900px\"></iframe>\n";
        }
        (void)folder_.write("all.html", "<!DOCTYPE html>\n" + frames + std::string(kScript));
    }

    /// What the script finds; `scheme` is 0 for dark and 1 for light.
    [[nodiscard]] nlohmann::json look(int scheme) const
    {
        const auto text = output_of(
            "timeout 120 '" + browser_ + "' --headless --no-sandbox --disable-gpu --user-data-dir='" +
            folder_.file("profile") + "' --allow-file-access-from-files --window-size=1400,2000 " +
            "--blink-settings=preferredColorScheme=" + std::to_string(scheme) + " --dump-dom 'file://" +
            folder_.file("all.html") + "' 2>/dev/null");
        const std::string begin = "<pre id=\"found\">";
        const auto from = text.find(begin);
        if (from == std::string::npos)
            return {};
        const auto first = from + begin.size();
        return nlohmann::json::parse(text.substr(first, text.find("</pre>", first) - first), nullptr, false);
    }

    TemporaryFolder folder_;
    std::string browser_;
};

TEST_F(PaperBrowser, PagesFitScreensWideAndNarrowLightAndDark)
{
    for (const int scheme : {0, 1}) {
        const auto found = look(scheme);
        ASSERT_EQ(found.size(), 2 * embedded_papers().size()) << found;
        for (const auto& [page, facts] : found.items()) {
            SCOPED_TRACE(page + (scheme == 0 ? ", dark" : ", light"));
            const bool is_narrow = page.ends_with(" 400");
            EXPECT_EQ(facts["overflow"], 0);
            EXPECT_GT(facts["charts"], 0);
            EXPECT_EQ(facts["narrow"], is_narrow ? facts["charts"] : nlohmann::json(0));
            EXPECT_EQ(facts["wide"], is_narrow ? nlohmann::json(0) : facts["charts"]);
            EXPECT_EQ(facts["background"], scheme == 0 ? "rgb(21, 24, 28)" : "rgb(255, 255, 255)");
            EXPECT_EQ(facts["paper"], facts["background"]);
            EXPECT_EQ(facts["ink"], scheme == 0 ? "rgb(232, 232, 232)" : "rgb(26, 26, 26)");
        }
    }
}

}  // namespace
}  // namespace segfold::papers::paper_browser_test
