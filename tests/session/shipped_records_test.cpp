// The records in the program belong to the present stages, operators and rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "dsl/check/check.h"
#include "dsl/text/standard_operators.h"
#include "runtime/session/choice/lookup.h"

namespace segfold::tune::shipped_records_test {
namespace {

TEST(ShippedRecords, AreSound)
{
    const auto store = RecordStore::open("");
    EXPECT_EQ(store.complaints(), std::vector<std::string>{});
    for (const auto& record : store.rows())
        EXPECT_TRUE(record.origin.starts_with("records/")) << record.origin;
}

/// A session on the host does not read these records, so none may be of a host.
TEST(ShippedRecords, AreOfGpus)
{
    const auto store = RecordStore::open("");
    for (const auto& record : store.rows())
        EXPECT_GT(record.device.compute_capability, 0) << record.origin;
    EXPECT_TRUE(RecordStore::open("", true).rows().empty());
}

/// "9 of tile_scan, 7 of warp_stream"
std::string print_counts(const std::map<std::string, int>& rows)
{
    std::string text;
    for (const auto& [what, count] : rows)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " of " + what;
    return text;
}

/// Rows of an earlier text of a stage decide nothing. This test tells the author of a change to tune again.
TEST(ShippedRecords, AreOfTheStagesThatAreHere)
{
    const auto& catalogue = Catalogue::standard();
    std::map<std::string, int> stale;
    const auto store = RecordStore::open("");
    for (const auto& record : store.rows()) {
        const auto hash = stage_hash(catalogue.stage(record.point.stage), catalogue);
        if (hash != record.stage_hash)
            ++stale[record.point.stage + " (now " + hash + ")"];
    }
    EXPECT_TRUE(stale.empty())
        << "rows of runtime/measure/tune/records are of earlier texts of their stages or of parts that these "
           "use, "
           "and "
           "decide nothing: "
        << print_counts(stale)
        << ". If `segfold emit` prints for each of these rows, byte for byte, what a build before the change "
           "prints, write the new hash in their stage_hash. Else tune their problems on their GPU again "
           "(`segfold tune OP --layout LAYOUT --elements N`) and replace them";
}

/// Returns the problem of a record of a standard operator over columns or rows; nothing if the operator or
/// its state has changed since.
std::optional<Problem> problem_of(const TuningRecord& record)
{
    constexpr std::array forms = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                  SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};
    static const auto known = standard_operators();
    const auto op = std::ranges::find(known, record.op, &StandardOperator::name);
    const auto form = std::ranges::find(forms, record.problem.form, [](auto one) { return name(one); });
    if (op == known.end() || form == forms.end())
        return std::nullopt;
    for (const auto type : op->types) {
        auto columns = standard_operator(record.op, type);
        for (auto& parameter : columns.parameters)
            parameter.row = record.problem.has_rows;
        const Problem problem(check(std::move(columns)), *form, record.problem.index_bits);
        if (operator_hash(problem.op) == record.op_hash && class_of(problem) == record.problem)
            return problem;
    }
    return std::nullopt;
}

/// Rows of an operator whose text has changed belong to kernels that are not emitted any more.
TEST(ShippedRecords, AreOfTheOperatorsThatAreHere)
{
    std::map<std::string, int> stale;
    const auto store = RecordStore::open("");
    for (const auto& record : store.rows())
        if (record.phase == TuningPhase::chosen && !problem_of(record))
            ++stale[record.op + " (" + print(record.problem) + ")"];
    EXPECT_TRUE(stale.empty()) << "problems of runtime/measure/tune/records are of operators whose text, "
                                  "state or laws are others now: "
                               << print_counts(stale)
                               << ". Tune them on their GPU again and replace their rows, or take these out";
}

/// Rows of a shape decide alone, so they must include the stage of the rule of thumb.
TEST(ShippedRecords, KnowTheStageThatTheRuleOfThumbTakes)
{
    const auto store = RecordStore::open("");
    std::set<std::string> tried;
    for (const auto& record : store.rows())
        tried.insert(record.point.stage);
    std::map<std::string, int> blind;
    for (const auto& record : store.rows()) {
        const auto problem = record.phase == TuningPhase::chosen ? problem_of(record) : std::nullopt;
        if (!problem)
            continue;
        const auto& rule = Catalogue::standard().rule_of_thumb(*problem, record.shape);
        if (!tried.contains(rule.name))
            ++blind[rule.name + " for " + record.op + " (" + print(record.problem) + "), " + record.layout];
    }
    EXPECT_TRUE(blind.empty()) << "problems of runtime/measure/tune/records were searched before the stage "
                                  "was there that the rule of thumb "
                                  "takes for them now: "
                               << print_counts(blind)
                               << ". Tune them on their GPU again and replace their rows, or take these out";
}

}  // namespace
}  // namespace segfold::tune::shipped_records_test
