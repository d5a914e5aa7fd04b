#include "runtime/papers/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "runtime/measure/bench/record_json.h"

namespace segfold {

std::span<const EmbeddedFile> embedded_paper_files();

namespace papers {
namespace {

constexpr std::string_view kColumns = "figure,row,metric,value,unit,device,read_from";
constexpr std::size_t kNumColumns = 7;

/// Returns the result of `read` on a JSON document. Throws SpecError, which names the fault, if the document
/// is malformed.
template <class Read>
auto reading(const std::string& file, std::string_view text, Read read)
{
    Json document;
    try {
        document = read_json(file, text);
    } catch (const InputError& error) {
        throw SpecError(error.what());
    }
    try {
        return read(JsonValue("document", document));
    } catch (const InputError& error) {
        throw SpecError(fmt::format("{}: {}", file, error.what()));
    }
}

/// Returns the text of the member `key`, or `otherwise` if there is no such member.
std::string text_or(const JsonValue& object, const char* key, std::string_view otherwise)
{
    const auto member = object.find(key);
    return member ? member->text() : std::string(otherwise);
}

constexpr std::array kKinds = {ExperimentKind::ladder, ExperimentKind::probe, ExperimentKind::transfer,
                               ExperimentKind::timer, ExperimentKind::contest};
constexpr int kMostStreams = 32;
constexpr int kMostChunks = 65536;

ExperimentKind kind_from(const JsonValue& document, const std::string& figure)
{
    const auto text = text_or(document, "kind", name(ExperimentKind::ladder));
    std::vector<std::string_view> names;
    for (const auto kind : kKinds) {
        if (name(kind) == text)
            return kind;
        names.push_back(name(kind));
    }
    throw InputError(fmt::format("{}: unknown kind '{}'; kinds are {}{}", figure, text,
                                 fmt::join(names, ", "), did_you_mean(text, names)));
}

std::int64_t elements_from(const JsonValue& document, const std::string& place)
{
    const auto elements = document.at("elements").integer();
    if (elements <= 0)
        throw InputError(fmt::format("{}: elements is {}; it has to be 1 or more", place, elements));
    return elements;
}

/// True if the member is `second`; false if it is `first` or missing. Throws InputError for any other text.
bool is_second(const JsonValue& document, const std::string& place, const char* key, const std::string& first,
               const std::string& second)
{
    const auto word = text_or(document, key, first);
    if (word != first && word != second)
        throw InputError(
            fmt::format("{}: {} is '{}'; it has to be {} or {}", place, key, word, first, second));
    return word == second;
}

int count_from(const JsonValue& document, const std::string& place, const char* key, int most)
{
    const auto member = document.find(key);
    const auto count = member ? member->integer() : 1;
    if (count < 1 || count > most)
        throw InputError(fmt::format("{}: {} is {}; it has to be 1 to {}", place, key, count, most));
    return static_cast<int>(count);
}

bench::TransferMethod transfer_from(const JsonValue& document, const std::string& place)
{
    bench::TransferMethod method;
    method.is_pinned = is_second(document, place, "memory", "pageable", "pinned");
    method.to_host = is_second(document, place, "direction", "to_device", "to_host");
    method.streams = count_from(document, place, "streams", kMostStreams);
    method.chunks = count_from(document, place, "chunks", kMostChunks);
    if (method.chunks < method.streams)
        throw InputError(fmt::format("{}: {} streams have {} chunks; each needs one at least", place,
                                     method.streams, method.chunks));
    if (!document.has("stage") && method.chunks > 1)
        throw InputError(place + ": chunks are there to be folded, and there is no stage");
    if (document.has("stage") && method.to_host)
        throw InputError(place + ": a stage folds what arrives on the GPU, not what goes to the host");
    return method;
}

/// Throws InputError if a row lacks the stage, probe or CPU that its kind of experiment requires, or if it
/// has more than one of them.
void check_subject(const JsonValue& document, const std::string& place, const PaperRow& row,
                   ExperimentKind kind)
{
    if (kind == ExperimentKind::probe) {
        if (row.is_host || !document.has("probe") || document.has("stage"))
            throw InputError(place + ": a row of probes has a probe, and no stage");
        return;
    }
    if (kind == ExperimentKind::contest) {
        if (row.is_host || document.has("stage") || document.has("probe") || !document.has("layout"))
            throw InputError(place + ": a row of a contest has a layout, and neither stage nor probe");
        return;
    }
    if (document.has("probe"))
        throw InputError(fmt::format("{}: a {} has no probes", place, name(kind)));
    if (row.is_host && kind != ExperimentKind::ladder)
        throw InputError(fmt::format("{}: the CPU has rows in ladders only, not in a {}", place, name(kind)));
    if (kind != ExperimentKind::transfer && row.is_host == document.has("stage"))
        throw InputError(place + ": a row has either a stage or \"host\": true");
}

PaperRow row_from(const JsonValue& document, const Experiment& experiment)
{
    const auto kind = experiment.kind;
    PaperRow row;
    row.row = document.at("row").text();
    const auto place = experiment.figure + ", " + row.row;
    if (const auto host = document.find("host"))
        row.is_host = host->truth();
    check_subject(document, place, row, kind);
    row.stage = text_or(document, kind == ExperimentKind::probe ? "probe" : "stage", "");
    if (const auto set = document.find("set"))
        for (const auto& [tunable, value] : set->members())
            row.chosen[tunable] = value.small();
    if (document.has("elements")) {
        if (kind != ExperimentKind::timer)
            throw InputError(
                fmt::format("{}: a row of a {} has the elements of its experiment", place, name(kind)));
        row.num_elements = elements_from(document, place);
    }
    if (kind == ExperimentKind::contest)
        row.layout = parse_layout(document.at("layout").text());
    if (kind == ExperimentKind::transfer)
        row.transfer = transfer_from(document, place);
    return row;
}

/// Reads operator, type and layout of the fold.
void read_workload(const JsonValue& document, Experiment& experiment)
{
    experiment.op = document.at("operator").text();
    if (const auto member = document.find("type")) {
        const auto type = member->text();
        experiment.type = find_type(type);
        if (!experiment.type)
            throw InputError(fmt::format("{}: unknown type '{}'", experiment.figure, type));
    }
    if (experiment.kind == ExperimentKind::contest)
        return;  // each row has its own layout
    experiment.layout = parse_layout(document.at("layout").text());
    if (experiment.kind == ExperimentKind::transfer && experiment.layout.kind != LayoutKind::whole)
        throw InputError(fmt::format("{}: the layout is '{}'; a transfer folds one segment, layout whole",
                                     experiment.figure, print(experiment.layout)));
}

Experiment experiment_from(const JsonValue& document)
{
    Experiment experiment;
    experiment.figure = document.at("figure").text();
    experiment.kind = kind_from(document, experiment.figure);
    experiment.title = document.at("title").text();
    if (experiment.kind != ExperimentKind::probe)
        read_workload(document, experiment);
    experiment.num_elements = elements_from(document, experiment.figure);
    for (const auto& document_of_row : document.at("rows").elements()) {
        auto row = row_from(document_of_row, experiment);
        if (std::ranges::find(experiment.rows, row.row, &PaperRow::row) != experiment.rows.end())
            throw InputError(fmt::format("{}: row '{}' is there twice", experiment.figure, row.row));
        experiment.rows.push_back(std::move(row));
    }
    return experiment;
}

/// Returns the fields of a CSV line. Within quotes, "" stands for one quote.
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
    constexpr std::string_view names[] = {"ladder", "probe", "transfer", "timer", "contest"};
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
    return reading(file, text, [&](const JsonValue& document) {
        Paper paper;
        paper.name = name;
        paper.title = document.at("title").text();
        paper.authors = document.at("authors").text();
        paper.published_in = document.at("published_in").text();
        paper.year = document.at("year").small();
        paper.claim = document.at("claim").text();
        for (const auto& experiment : document.at("experiments").elements())
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

MeasuredPaper embedded_measurement(const std::string& path)
{
    const auto files = embedded_paper_files();
    return measured_paper("papers/" + path, std::ranges::find(files, path, &EmbeddedFile::path)->text);
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
    return reading(file, text, [](const JsonValue& document) {
        MeasuredPaper measured;
        measured.machine = bench::machine_from(document.at("machine"));
        for (const auto& experiment : document.at("experiments").elements())
            measured.experiments.push_back(
                {experiment.at("figure").text(), bench::workload_from(experiment.at("workload"))});
        return measured;
    });
}

}  // namespace papers
}  // namespace segfold
