#include "runtime/cli/paper_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/suggest.h"
#include "runtime/cli/bench_view.h"

namespace segfold {

std::span<const EmbeddedFile> embedded_paper_files();

namespace cli {
namespace {

constexpr std::string_view kColumns = "figure,row,metric,value,unit,device,read_from";
constexpr std::size_t kNumColumns = 7;

/// A document, or the SpecError that says what is wrong with it.
template <class Read>
auto reading(const std::string& file, std::string_view text, Read read)
{
    try {
        return read(Json::parse(text));
    } catch (const nlohmann::json::exception& error) {
        throw SpecError(fmt::format("{}: {}", file, error.what()));
    } catch (const InputError& error) {
        throw SpecError(fmt::format("{}: {}", file, error.what()));
    }
}

constexpr std::array kKinds = {ExperimentKind::ladder, ExperimentKind::timer};

ExperimentKind kind_from(const Json& document, const std::string& figure)
{
    const auto text = document.value("kind", std::string(name(ExperimentKind::ladder)));
    std::vector<std::string_view> names;
    for (const auto kind : kKinds) {
        if (name(kind) == text)
            return kind;
        names.push_back(name(kind));
    }
    throw InputError(fmt::format("{}: unknown kind '{}'; kinds are {}{}", figure, text,
                                 fmt::join(names, ", "), did_you_mean(text, names)));
}

std::int64_t elements_from(const Json& document, const std::string& place)
{
    const std::int64_t elements = document.at("elements");
    if (elements <= 0)
        throw InputError(fmt::format("{}: elements is {}; it has to be 1 or more", place, elements));
    return elements;
}

PaperRow row_from(const Json& document, const Experiment& experiment)
{
    PaperRow row;
    row.row = document.at("row");
    const auto place = experiment.figure + ", " + row.row;
    row.is_host = document.value("host", false);
    if (row.is_host == document.contains("stage"))
        throw InputError(place + ": a row has either a stage or \"host\": true");
    if (row.is_host && experiment.kind != ExperimentKind::ladder)
        throw InputError(
            fmt::format("{}: the CPU has rows in ladders only, not in a {}", place, name(experiment.kind)));
    row.stage = document.value("stage", "");
    if (document.contains("set"))
        row.chosen = document.at("set").get<std::map<std::string, int>>();
    if (document.contains("elements")) {
        if (experiment.kind != ExperimentKind::timer)
            throw InputError(fmt::format("{}: a row of a {} has the elements of its experiment", place,
                                         name(experiment.kind)));
        row.num_elements = elements_from(document, place);
    }
    return row;
}

Experiment experiment_from(const Json& document)
{
    Experiment experiment;
    experiment.figure = document.at("figure");
    experiment.kind = kind_from(document, experiment.figure);
    experiment.title = document.at("title");
    experiment.op = document.at("operator");
    if (document.contains("type")) {
        const auto type = document.at("type").get<std::string>();
        experiment.type = find_type(type);
        if (!experiment.type)
            throw InputError(fmt::format("{}: unknown type '{}'", experiment.figure, type));
    }
    experiment.layout = parse_layout(document.at("layout").get<std::string>());
    experiment.num_elements = elements_from(document, experiment.figure);
    for (const auto& document_of_row : document.at("rows")) {
        auto row = row_from(document_of_row, experiment);
        if (std::ranges::find(experiment.rows, row.row, &PaperRow::row) != experiment.rows.end())
            throw InputError(fmt::format("{}: row '{}' is there twice", experiment.figure, row.row));
        experiment.rows.push_back(std::move(row));
    }
    return experiment;
}

/// The fields of one line; a quote within quotes is written twice.
std::vector<std::string> fields_of(std::string_view line, const std::string& place)
{
    std::vector<std::string> fields(1);
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (is_quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
            fields.back() += line[++i];
        else if (c == '"')
            is_quoted = !is_quoted;
        else if (c == ',' && !is_quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
    if (is_quoted)
        throw SpecError(place + ": a quote is opened and not closed");
    if (fields.size() != kNumColumns)
        throw SpecError(fmt::format("{}: {} fields; the columns are {}", place, fields.size(), kColumns));
    return fields;
}

std::string_view take_line(std::string_view& text)
{
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    return line;
}

std::vector<Paper> read_all(std::span<const EmbeddedFile> files)
{
    std::vector<Paper> papers;
    for (const auto& file : files)
        if (file.path.ends_with("/paper.json"))
            papers.push_back(read_paper(std::string(file.path.substr(0, file.path.find('/'))),
                                        "papers/" + std::string(file.path), file.text));
    for (auto& paper : papers)
        for (const auto& file : files) {
            if (file.path == paper.name + "/published.csv")
                paper.published = read_published("papers/" + std::string(file.path), file.text);
            if (file.path.starts_with(paper.name + "/measured/"))
                paper.measured.emplace_back(file.path);
        }
    std::ranges::sort(papers, {}, [](const Paper& paper) { return std::pair(paper.year, paper.name); });
    return papers;
}

}  // namespace

std::string_view name(ExperimentKind kind)
{
    constexpr std::string_view names[] = {"ladder", "timer"};
    return names[static_cast<std::size_t>(kind)];
}

const PublishedValue* Paper::find(std::string_view figure, std::string_view row,
                                  std::string_view metric) const
{
    const auto found = std::ranges::find_if(published, [&](const PublishedValue& value) {
        return value.figure == figure && value.row == row && value.metric == metric;
    });
    return found == published.end() ? nullptr : &*found;
}

Paper read_paper(const std::string& name, const std::string& file, std::string_view text)
{
    return reading(file, text, [&](const Json& document) {
        Paper paper;
        paper.name = name;
        paper.title = document.at("title");
        paper.authors = document.at("authors");
        paper.published_in = document.at("published_in");
        paper.year = document.at("year");
        paper.claim = document.at("claim");
        for (const auto& experiment : document.at("experiments"))
            paper.experiments.push_back(experiment_from(experiment));
        if (paper.experiments.empty())
            throw InputError("experiments is empty; a paper has one at least");
        return paper;
    });
}

std::vector<PublishedValue> read_published(const std::string& file, std::string_view text)
{
    if (take_line(text) != kColumns)
        throw SpecError(fmt::format("{}:1: the first line has to be {}", file, kColumns));
    std::vector<PublishedValue> values;
    for (int number = 2; !text.empty(); ++number) {
        const auto line = take_line(text);
        if (line.empty())
            continue;
        const auto place = fmt::format("{}:{}", file, number);
        const auto fields = fields_of(line, place);
        PublishedValue value{fields[0], fields[1], fields[2], 0, fields[4], fields[5], fields[6]};
        const auto* const end = fields[3].data() + fields[3].size();
        const auto [stop, error] = std::from_chars(fields[3].data(), end, value.value);
        if (error != std::errc() || stop != end)
            throw SpecError(fmt::format("{}: '{}' is not a number", place, fields[3]));
        values.push_back(std::move(value));
    }
    return values;
}

const std::vector<Paper>& embedded_papers()
{
    static const std::vector<Paper> papers = read_all(embedded_paper_files());
    return papers;
}

const Paper& embedded_paper(std::string_view name)
{
    std::vector<std::string_view> names;
    for (const auto& paper : embedded_papers()) {
        if (paper.name == name)
            return paper;
        names.push_back(paper.name);
    }
    throw InputError(fmt::format("unknown paper '{}'; there are {}{}", name, fmt::join(names, ", "),
                                 did_you_mean(name, names)));
}

Json json_of(const std::string& paper, const MeasuredPaper& measured)
{
    Json experiments = Json::array();
    for (const auto& experiment : measured.experiments)
        experiments.push_back({{"figure", experiment.figure}, {"workload", json_of(experiment.record)}});
    return {
        {"paper", paper}, {"machine", json_of(measured.machine)}, {"experiments", std::move(experiments)}};
}

MeasuredPaper measured_paper(const std::string& file, std::string_view text)
{
    return reading(file, text, [](const Json& document) {
        MeasuredPaper measured;
        measured.machine = machine_from(document.at("machine"));
        for (const auto& experiment : document.at("experiments"))
            measured.experiments.push_back(
                {experiment.at("figure"), workload_from(experiment.at("workload"))});
        return measured;
    });
}

}  // namespace cli
}  // namespace segfold
