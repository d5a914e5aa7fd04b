#include "runtime/laws/prove/verdict_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/cache_settings.h"
#include "runtime/support/files/sha256.h"

namespace segfold::prove {
namespace {

using Json = nlohmann::json;

/// Format version. Increase it whenever the file format or the questions of proofs change.
constexpr int kFormat = 6;

/// Opens the cache's folder. Returns null if it does not exist; if `makes` is true, creates it instead.
std::unique_ptr<cache::Folder> open_folder(bool makes)
{
    try {
        const auto settings = cache::settings_from_environment();
        std::error_code ignored;
        if (settings.is_on && !settings.folder.empty() &&
            (makes || std::filesystem::exists(settings.folder, ignored)))
            return std::make_unique<cache::Folder>(settings.folder, settings.most_bytes);
    } catch (const Error&) {  // reported where programs are stored in the same folder
    }
    return nullptr;
}

std::string file_of(const Operator& op)
{
    return cache::file_name(cache::sha256_hex(fmt::format("laws {}\n{}", kFormat, print(op))), kVerdictKind);
}

Json json_of(const FieldValue& value)
{
    return Json::array({static_cast<int>(value.type),
                        is_float(value.type) ? std::bit_cast<std::uint64_t>(value.real) : value.bits});
}

FieldValue value_of(const Json& json)
{
    FieldValue value{static_cast<Type>(json.at(0).get<int>())};
    const auto bits = json.at(1).get<std::uint64_t>();
    if (is_float(value.type))
        value.real = std::bit_cast<double>(bits);
    else
        value.bits = bits;
    return value;
}

Json json_of(const LawFinding& finding)
{
    Json json = {{"law", static_cast<int>(finding.law)},
                 {"verdict", static_cast<int>(finding.verdict)},
                 {"means", static_cast<int>(finding.means)},
                 {"cases", finding.cases},
                 {"spread", finding.spread},
                 {"exhaustive_cases", finding.exhaustive_cases},
                 {"eight_bit", finding.eight_bit},
                 {"small_cases", finding.small_cases},
                 {"sorted_by", finding.sorted_by},
                 {"sorted_cases", finding.sorted_cases},
                 {"unproved", finding.unproved},
                 {"holds_without_overflow", finding.holds_without_overflow},
                 {"nan_differs", finding.nan_differs},
                 {"seconds", finding.seconds},
                 {"invariants", finding.invariants}};
    if (finding.verdict == Verdict::refuted && finding.counter_example) {
        auto& states = json["states"] = Json::array();
        for (const auto& state : finding.counter_example->states) {
            auto& elements = states.emplace_back(Json::array());
            for (const auto& element : state.elements) {
                auto& values = elements.emplace_back(Json::array());
                for (const auto& value : element)
                    values.push_back(json_of(value));
            }
        }
    }
    return json;
}

template <class Enum>
Enum enum_of(const Json& json, Enum last)
{
    const int number = json.get<int>();
    if (number < 0 || number > static_cast<int>(last))
        throw InputError("no such value");
    return static_cast<Enum>(number);
}

LawFinding finding_of(const Json& json, const Operator& op)
{
    LawFinding finding;
    finding.law = enum_of(json.at("law"), Law::append);
    finding.verdict = enum_of(json.at("verdict"), Verdict::refuted);
    finding.means = enum_of(json.at("means"), Means::reals);
    finding.cases = json.at("cases").get<std::int64_t>();
    finding.spread = json.at("spread").get<double>();
    finding.exhaustive_cases = json.at("exhaustive_cases").get<std::int64_t>();
    finding.eight_bit = json.at("eight_bit").get<bool>();
    finding.small_cases = json.at("small_cases").get<std::int64_t>();
    finding.sorted_by = json.at("sorted_by").get<std::string>();
    finding.sorted_cases = json.at("sorted_cases").get<std::int64_t>();
    finding.unproved = json.at("unproved").get<std::string>();
    finding.holds_without_overflow = json.at("holds_without_overflow").get<bool>();
    finding.nan_differs = json.at("nan_differs").get<bool>();
    finding.seconds = json.at("seconds").get<double>();
    finding.invariants = json.at("invariants").get<std::string>();
    if (finding.verdict == Verdict::refuted) {
        std::vector<std::vector<std::vector<FieldValue>>> states;
        for (const auto& state : json.at("states")) {
            auto& elements = states.emplace_back();
            for (const auto& element : state) {
                auto& values = elements.emplace_back();
                for (const auto& value : element)
                    values.push_back(value_of(value));
            }
        }
        finding.counter_example = confirmed(op, finding.law, states);
        if (!finding.counter_example)
            throw InputError("the counter-example is none");
    }
    return finding;
}

/// The reports that this process keeps in memory, by the operator's digest.
class Memory {
public:
    /// Keeps the report, unless it is already in a file.
    void keep(const Digest& op, LawReport report, bool is_in_file)
    {
        const std::lock_guard lock(mutex_);
        if (is_in_file)
            reports_.erase(op);
        else
            reports_.insert_or_assign(op, std::move(report));
        ++count_;
    }
    std::optional<LawReport> find(const Digest& op)
    {
        const std::lock_guard lock(mutex_);
        const auto found = reports_.find(op);
        return found == reports_.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }

private:
    std::mutex mutex_;
    std::map<Digest, LawReport> reports_;
    std::atomic<std::uint64_t> count_ = 0;
};

Memory& memory()
{
    static auto* kept = new Memory;  // never deleted, because folds may still run while the process exits
    return *kept;
}

}  // namespace

void remember(const Operator& op, const LawReport& found)
{
    const auto is_by_prover = [](const LawFinding& f) {
        return f.means != Means::search && f.means != Means::all_states;
    };
    if (std::ranges::none_of(found.findings, is_by_prover) && !found.any_refuted())
        return;
    auto report = found;
    if (const auto known = remembered(op)) {
        for (auto& finding : report.findings)
            if (const auto* proof = known->find(finding.law); proof != nullptr && is_proof(proof->verdict) &&
                                                              !is_proof(finding.verdict) &&
                                                              finding.verdict != Verdict::refuted)
                finding = *proof;
        if (report.prover.empty())
            report.prover = known->prover;
    }
    Json json = {{"format", kFormat}, {"name", op.name}, {"operator", print(op)}, {"prover", report.prover}};
    json["findings"] = Json::array();
    for (const auto& finding : report.findings)
        json["findings"].push_back(json_of(finding));
    json["undeclared"] = Json::array();
    for (const auto& finding : report.undeclared)
        json["undeclared"].push_back(json_of(finding));
    const auto folder = open_folder(true);
    memory().keep(digest_of(op), report, folder && folder->write(file_of(op), json.dump()).empty());
}

StoredVerdicts decode_verdicts(std::string_view bytes)
{
    try {
        const auto json = Json::parse(bytes);
        return {json.at("name").get<std::string>(), json.at("prover").get<std::string>()};
    } catch (const nlohmann::json::exception&) {
        throw InputError("holds no verdicts on laws");
    }
}

std::uint64_t num_remembered() { return memory().count(); }

std::optional<LawReport> remembered(const Operator& op)
{
    const auto folder = open_folder(false);
    const auto text = folder ? folder->read(file_of(op)) : std::nullopt;
    if (!text)
        return memory().find(digest_of(op));
    try {
        const auto json = Json::parse(*text);
        if (json.at("format") != kFormat || json.at("operator") != print(op))
            return std::nullopt;
        LawReport report;
        report.prover = json.at("prover").get<std::string>();
        for (const auto& finding : json.at("findings"))
            report.findings.push_back(finding_of(finding, op));
        for (const auto& finding : json.at("undeclared"))
            report.undeclared.push_back(finding_of(finding, op));
        for (const auto law : claimed_laws(op))
            if (report.find(law) == nullptr)
                return std::nullopt;
        return report;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

}  // namespace segfold::prove
