// segfold regress: tries relations between the results of runs.
#include <fmt/format.h>

#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/regress/parts.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kTriedOnGpu = std::int64_t{1} << 18;
constexpr std::int64_t kTriedOnHost = std::int64_t{1} << 11, kMostTriedOnHost = std::int64_t{3} << 13;
constexpr std::int64_t kMostTriedElements = std::int64_t{1} << 24;
constexpr std::int64_t kMostRepeats = 1000000;
constexpr std::string_view kTilesNames[] = {"chosen", "smallest"};

regress::RelationRequest request_of(const Arguments& arguments, const Catalogue& catalogue, bool on_gpu,
                                    bool by_ranks)
{
    regress::RelationRequest request{.relations = {}, .stages = {}, .tiles = {}, .catalogue = catalogue};
    request.num_elements =
        arguments.integer("elements", 1, kMostTriedElements).value_or(on_gpu ? kTriedOnGpu : kTriedOnHost);
    if (!on_gpu && !arguments.has("elements"))
        request.most_elements = kMostTriedOnHost;
    request.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, kLargestSeed).value_or(7));
    request.num_seeds = static_cast<std::uint64_t>(arguments.integer("repeat", 1, kMostRepeats).value_or(1));
    if (const auto wanted = arguments.value("relation"))
        request.relations = {&regress::relation(*wanted)};
    else if (by_ranks)
        request.relations = {&regress::relation("ranks")};
    else
        for (const auto& relation : regress::relations())
            request.relations.push_back(&relation);
    request.stages = regress_stages(arguments, catalogue);
    // simt is slow and gets few elements. With small tiles, these still cross many tile borders.
    request.tiles = {regress::Tiles::smallest};
    if (on_gpu)
        request.tiles.push_back(regress::Tiles::chosen);
    if (const auto asked = arguments.choice("tiles", kTilesNames))
        request.tiles = {static_cast<regress::Tiles>(*asked)};
    return request;
}

/// Counts the attempts, and shows the number of the current one as progress.
class Attempts {
public:
    Attempts(Progress* progress, std::size_t all) : progress_(progress), all_(all) {}

    void next(const std::string& what)
    {
        if (progress_ != nullptr)
            progress_->show(fmt::format("relations: {} of {}{}, {}", done_ + 1, all_,
                                        countdown_.text(done_, all_), what));
        ++done_;
    }

private:
    Progress* progress_;
    Countdown countdown_;
    std::size_t done_ = 0, all_;
};

}  // namespace

std::vector<const Stage*> regress_stages(const Arguments& arguments, const Catalogue& catalogue)
{
    const auto asked = arguments.value("stage").value_or("all");
    if (asked != "all")
        return {&catalogue.stage(asked)};
    std::vector<const Stage*> all;
    for (const auto& stage : catalogue.stages())
        all.push_back(&stage);
    return all;
}

regress::MakeArrays arrays_argument(const Arguments& arguments, std::span<const NamedOperator> ops)
{
    std::vector<Operator> all;
    for (const auto& named : ops)
        all.push_back(named.op);
    return regress::uniform_arrays_beside(scalar_texts(arguments, all));
}

std::string quoted(const std::string& word)
{
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,^+";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos)
        return word;
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

bool needs_devices(const Arguments& arguments)
{
    const auto wanted = arguments.value("relation");
    return !wanted || wanted == "devices" || wanted == "ranks";
}

RelationsReport hold_relations(const Arguments& arguments, std::span<const NamedOperator> ops,
                               const Catalogue& catalogue, Backend& backend, std::span<Backend* const> others,
                               AgreedRanks* ranks, Progress* progress)
{
    auto request = request_of(arguments, catalogue, backend.device().has_value(), ranks != nullptr);
    request.make_arrays = arrays_argument(arguments, ops);
    request.others = others;
    request.ranks = ranks;
    RelationsReport report;
    report.backend = fmt::format("{}: {}", backend.name(), backend.description());
    report.num_elements = request.num_elements;
    report.num_ranks = ranks != nullptr ? ranks->size() : 0;
    report.num_devices = 1 + static_cast<int>(others.size());
    report.replay_words = fmt::format("--backend {}", backend.name());
    for (const auto flag : {"device", "devices", "schedule-seed", "kernels"})
        if (const auto value = arguments.value(flag))
            report.replay_words += fmt::format(" --{} {}", flag, quoted(*value));
    Attempts attempts(progress,
                      ops.size() * request.num_seeds * request.stages.size() * request.relations.size());
    for (const auto& named : ops)
        report.operators.push_back(
            {named.name, regress::tried_part(named.op),
             regress::hold_relations(named, request, backend,
                                     [&](const std::string& what) { attempts.next(what); })});
    return report;
}

}  // namespace segfold::cli
