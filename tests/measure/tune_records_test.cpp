// Records: written rows are read again, damaged rows are reported, and lookups give their reasons.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "dsl/check/check.h"
#include "dsl/derived.h"
#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/measure/tune/known_trials.h"
#include "runtime/session/choice/explanation.h"
#include "runtime/session/choice/lookup.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::tune::tune_records_test {
namespace {

const DeviceIdentity kHere{"NVIDIA H200", 90, 132, 60 << 20, 6144, 1980000, 3201000};
const DeviceIdentity kElsewhere{"Fake GPU", 80, 40, 4 << 20, 384, 1400000, 1200000};

Problem problem() { return {standard_operator("sum"), SegmentForm::offsets}; }

Shape shape(std::int64_t elements, std::int64_t mean) { return {elements, elements / mean, 2 * mean}; }

Point scan(int threads, int items)
{
    return {"tile_scan", {{"block_threads", threads}, {"items_per_thread", items}}};
}

TuningRecord row(const Point& point, const Shape& at, double milliseconds,
                 TuningPhase phase = TuningPhase::ranked, const DeviceIdentity& device = kHere)
{
    const auto& catalogue = Catalogue::standard();
    TuningRecord record{
        device,
        "13.0",
        "NVRTC 13.0",
        "sum",
        operator_hash(problem().op),
        class_of(problem()),
        "geometric:mean=32",
        at,
        point,
        "",
        phase,
        {MeasurementOutcome::correct, milliseconds, {milliseconds, milliseconds * 1.01}, "", 41.5},
        1 << 20,
        "2026-11-22T04:33:35Z"};
    for (const auto& stage : catalogue.stages())
        if (stage.name == point.stage)
            record.stage_hash = stage_hash(stage, catalogue);
    record.origin = "test.jsonl:1";
    return record;
}

Lookup ask(std::vector<TuningRecord> rows, const Shape& at, const DeviceIdentity& device = kHere)
{
    const auto own = problem();
    return look_up(RecordStore::of(std::move(rows)), {device, own, at, Catalogue::standard()});
}

std::string failure(const std::string& line)
{
    return test::message_of<InputError>([&] { (void)parse_record("r.jsonl:3", line); });
}

std::string replaced(std::string text, const std::string& what, const std::string& with)
{
    const auto at = text.find(what);
    EXPECT_NE(at, text.npos) << what;
    return text.replace(at, what.size(), with);
}

TEST(TuningRecords, SayWhetherTheyKnowAClass)
{
    const auto at = shape(1 << 20, 32);
    const auto here = row(scan(256, 8), at, 0.1);
    auto wrong = here;
    wrong.measurement.outcome = MeasurementOutcome::wrong;
    const Problem ranges(standard_operator("sum"), SegmentForm::ranges);
    const DeviceIdentity host{"a processor", 0};
    EXPECT_TRUE(knows_class(RecordStore::of({here}), kHere, problem()));
    EXPECT_TRUE(knows_class(RecordStore::of({here}), kElsewhere, problem())) << "seeds are of the class, too";
    EXPECT_FALSE(knows_class(RecordStore::of({here}), kHere, ranges));
    EXPECT_FALSE(knows_class(RecordStore::of({here}), host, problem()));
    EXPECT_FALSE(knows_class(RecordStore::of({wrong}), kHere, problem()));
    EXPECT_FALSE(knows_class(RecordStore::of({}), kHere, problem()));
}

TEST(TuningRecords, WhatIsWrittenIsReadAgain)
{
    auto record = row(scan(256, 8), {1 << 20, 1 << 15, 64, 0, 1 << 22}, 0.125, TuningPhase::chosen);
    record.measurement.reason = "a \"reason\"\nwith lines";
    const auto read = parse_record("test.jsonl:1", print(record));
    EXPECT_EQ(print(read), print(record));
    EXPECT_EQ(read.device, record.device);
    EXPECT_EQ(read.problem, record.problem);
    EXPECT_EQ(read.point, record.point);
    EXPECT_EQ(read.measurement.samples, record.measurement.samples);
    EXPECT_EQ(read.phase, TuningPhase::chosen);
    for (const auto outcome :
         {MeasurementOutcome::abandoned, MeasurementOutcome::compile, MeasurementOutcome::resources,
          MeasurementOutcome::wrong, MeasurementOutcome::timeout, MeasurementOutcome::runtime}) {
        record.measurement.outcome = outcome;
        EXPECT_EQ(parse_record("x", print(record)).measurement.outcome, outcome);
    }
}

TEST(TuningRecords, DamageIsPointedAt)
{
    const auto line = print(row(scan(256, 8), shape(1 << 20, 32), 0.125));
    EXPECT_EQ(failure(line), "nothing was thrown");
    EXPECT_EQ(failure("{\"version\""), "r.jsonl:3: no JSON at byte 11; a record is one object a line");
    EXPECT_EQ(failure("[]"), "r.jsonl:3: row is []; an object is needed");
    EXPECT_EQ(failure("{}"), "r.jsonl:3: row has no 'version'");
    EXPECT_EQ(failure(replaced(line, "\"version\":1", "\"version\":7")),
              "r.jsonl:3: row.version is 7; this program reads version 1");
    EXPECT_EQ(failure(replaced(line, "\"milliseconds\":0.125", "\"milliseconds\":-2")),
              "r.jsonl:3: row.milliseconds is -2; milliseconds must be a number of 0 or more");
    EXPECT_EQ(failure(replaced(line, "\"correct\"", "\"fine\"")),
              "r.jsonl:3: row.outcome is \"fine\"; correct, abandoned, compile, resources, wrong, timeout or "
              "runtime is needed");
    EXPECT_EQ(failure(replaced(line, "\"block_threads\":256", "\"block_threads\":\"many\"")),
              "r.jsonl:3: row.configuration.block_threads is \"many\"; an integer from 0 to 2147483647 is "
              "needed");
    EXPECT_EQ(failure(line.substr(0, line.size() - 1) + "," + line.substr(1)),
              "r.jsonl:3: two records stand in one line");
    EXPECT_EQ(failure(replaced(line, "\"milliseconds\":0.125", "\"milliseconds\":-1e999")),
              "r.jsonl:3: the number -1e999 is beyond what a 64-bit float holds");
    for (std::size_t cut = 1; cut < line.size(); cut += 7)
        EXPECT_NE(failure(line.substr(0, cut)), "nothing was thrown");
}

TEST(TuningRecords, AFileThatWasCutOffLosesOneRowAndTakesMore)
{
    const TemporaryFolder folder;
    const auto path = folder.file("deep/er/nvidia_h200.jsonl");
    const auto record = row(scan(256, 8), shape(1 << 20, 32), 0.125);
    {
        RecordFile file(path);
        file.append(record);
        file.append(record);
    }
    auto text = read_text(path);
    std::ofstream(path, std::ios::binary) << text.substr(0, text.size() - 40);
    auto store = RecordStore::open(folder.file("deep/er"));
    ASSERT_EQ(store.complaints().size(), 1u);
    EXPECT_NE(store.complaints()[0].find("nvidia_h200.jsonl:2: the line is cut off after"), std::string::npos)
        << store.complaints()[0];
    const auto before = store.rows().size();
    RecordFile(path).append(record);
    store = RecordStore::open(folder.file("deep/er"));
    EXPECT_EQ(store.rows().size(), before + 1) << "the new row does not hang on the damaged one";
    EXPECT_EQ(store.complaints().size(), 1u);
    EXPECT_TRUE(RecordStore::open(folder.file("nowhere")).complaints().empty());
}

TEST(TuningRecords, WhatSuitsAStageIsNoPartOfItsHash)
{
    const auto& catalogue = Catalogue::standard();
    auto stage = catalogue.stage("tile_scan");
    const auto hash = stage_hash(stage, catalogue);
    const auto with = [&](const std::string& line) {
        auto changed = stage;
        changed.text = line + changed.text;
        return stage_hash(changed, catalogue);
    };
    EXPECT_EQ(with("//% fits    block_threads == 64\n"), hash);
    EXPECT_EQ(with("//% source  Somebody 1970\n"), hash);
    EXPECT_EQ(with("//% suits   num_elements\n"), hash);
    EXPECT_NE(with("// a comment, which the emitted text has\n"), hash);
    auto longer = stage;
    longer.text += "//% let     more = 1\n";
    EXPECT_NE(stage_hash(longer, catalogue), hash);
    stage.text += "more without an end";
    EXPECT_NE(stage_hash(stage, catalogue), hash);
}

TEST(Lookup, TheVeryShapeDecides)
{
    const auto at = shape(1 << 20, 32);
    const auto found = ask({row(scan(256, 8), at, 0.5), row(scan(64, 8), at, 0.4, TuningPhase::chosen),
                            row(scan(128, 8), at, 0.39)},
                           at);
    EXPECT_EQ(found.match, Match::exact);
    EXPECT_EQ(found.point, scan(64, 8)) << "the chosen one, though another is a hair faster";
    EXPECT_EQ(found.predicted_milliseconds, 0.4);
    EXPECT_EQ(found.considered.size(), 3u);
    EXPECT_EQ(found.record, "test.jsonl:1");
    const std::string tuned = "sum was tuned for 1048576 elements in 32768 segments on NVIDIA H200, ";
    EXPECT_EQ(
        found.reason,
        tuned + "and chosen of 3 plans measured there: 1 took less time, but is not faster beyond doubt");
    EXPECT_EQ(
        ask({row(scan(256, 8), at, 0.38), row(scan(64, 8), at, 0.4, TuningPhase::chosen),
             row(scan(128, 8), at, 0.39)},
            at)
            .reason,
        tuned + "and chosen of 3 plans measured there: 2 took less time, but none is faster beyond doubt");
    EXPECT_EQ(ask({row(scan(256, 8), at, 0.5), row(scan(64, 8), at, 0.4, TuningPhase::chosen)}, at).reason,
              tuned + "the fastest of 2 plans measured there");
}

TEST(Explanation, RatesHaveDigitsThatCount)
{
    const auto predicted = [](double milliseconds) {
        Explanation explanation;
        explanation.traffic.columns = 1000;
        explanation.lookup.predicted_milliseconds = milliseconds;
        return explain(explanation).back().second;
    };
    EXPECT_EQ(predicted(1), "1 ms, 0.001 GB/s");
    EXPECT_EQ(predicted(0.0035), "0.0035 ms, 0.29 GB/s");
    EXPECT_EQ(predicted(0.0001), "0.0001 ms, 10.0 GB/s");
    EXPECT_EQ(predicted(0.000003), "3e-06 ms, 333 GB/s");
}

TEST(TuningRecords, TellScansApart)
{
    const auto scan_class =
        class_of(Problem(scanned(standard_operator("sum_f32"), {}), SegmentForm::offsets));
    EXPECT_NE(scan_class, class_of(Problem(standard_operator("sum_f32"), SegmentForm::offsets)));
    EXPECT_EQ(print(scan_class),
              "offsets, 32-bit indices, 4 bytes an element, 4 bytes a state, commutative, running results");
    auto scan_row = row({"running_tiles", {}}, shape(1 << 20, 32), 0.5);
    scan_row.problem = scan_class;
    EXPECT_EQ(parse_record("test.jsonl:1", print(scan_row)).problem, scan_class);
}

TEST(Lookup, RowsOfAnotherLengthDecideNothing)
{
    auto op = standard_operator("softmax_f32");
    op.parameters[0].row = true;
    const Problem rows(check(std::move(op)), SegmentForm::offsets);
    const auto& catalogue = Catalogue::standard();
    const auto& stage = catalogue.rule_of_thumb(rows, {});
    const auto of_features = [&](std::int64_t num_features) {
        Shape at = shape(1 << 20, 32);
        at.num_features = num_features;
        TuningRecord record = row({stage.name, default_configuration(stage, plan_facts(rows, at))}, at, 0.5);
        record.problem = class_of(rows);
        record.stage_hash = stage_hash(stage, catalogue);
        return parse_record("test.jsonl:1", print(record));
    };
    const auto wide = of_features(64);
    EXPECT_EQ(wide.shape.num_features, 64);
    EXPECT_EQ(wide.problem, class_of(rows));
    EXPECT_EQ(print(wide.problem),
              "offsets, 32-bit indices, 4 bytes an element, 8 bytes a state, commutative, costly, rows, "
              "write-back");
    const auto ask_for = [&](std::int64_t num_features) {
        Shape at = shape(1 << 20, 32);
        at.num_features = num_features;
        return look_up(RecordStore::of({wide}), {kHere, rows, at, catalogue});
    };
    EXPECT_EQ(ask_for(64).match, Match::exact);
    EXPECT_NE(ask_for(64).reason.find("1048576 elements of 64 features in 32768 segments"),
              std::string::npos);
    EXPECT_EQ(ask_for(8).match, Match::none);
    EXPECT_EQ(ask_for(8).seeds, std::vector<Point>{wide.point});
    EXPECT_EQ(distance(wide.shape, shape(1 << 20, 32)), std::numeric_limits<double>::infinity());
    EXPECT_EQ(ask({wide}, wide.shape).match, Match::none) << "columns are another class of problem";
}

TEST(Lookup, APinnedPlanIsNotReplaced)
{
    const auto at = shape(1 << 20, 32);
    const auto found =
        ask({row(scan(256, 8), at, 0.5, TuningPhase::pinned), row(scan(64, 8), at, 0.4, TuningPhase::chosen)},
            at);
    EXPECT_EQ(found.point, scan(256, 8));
    EXPECT_NE(found.reason.find("pinned"), std::string::npos);
}

TEST(Lookup, BetweenShapesThePlanThatLosesLeastIsTaken)
{
    const auto small = shape(1 << 20, 32), large = shape(1 << 22, 32);
    const std::vector<TuningRecord> rows = {row(scan(256, 8), small, 1.0), row(scan(64, 8), small, 1.1),
                                            row(scan(128, 8), small, 3.0), row(scan(256, 8), large, 8.0),
                                            row(scan(64, 8), large, 4.4),  row(scan(128, 8), large, 4.0)};
    const auto found = ask(rows, shape(1 << 21, 32));
    EXPECT_EQ(found.match, Match::near_shape);
    EXPECT_EQ(found.point, scan(64, 8)) << "never the best, but close to it at both";
    ASSERT_TRUE(found.predicted_milliseconds);
    EXPECT_NEAR(*found.predicted_milliseconds, 2 * 1.1, 1e-6) << "in proportion to the elements";
    EXPECT_EQ(ask(rows, shape((1 << 20) + 4096, 32)).point, scan(256, 8)) << "close to the small one";
    const auto far = ask(rows, shape(1 << 28, 32));
    EXPECT_EQ(far.match, Match::none);
    EXPECT_FALSE(far.point);
    EXPECT_NE(far.reason.find("6.0 doublings away and 1.5 is the limit"), std::string::npos) << far.reason;
}

TEST(Lookup, BetweenShapesTheRuleOfThumbStaysWhereNothingGains)
{
    const auto own = problem();
    const auto& catalogue = Catalogue::standard();
    const auto rule = [&](const Shape& at) {
        const auto& stage = catalogue.rule_of_thumb(own, at);
        return Point{stage.name, default_configuration(stage, plan_facts(own, at))};
    };
    const auto near = shape(1 << 20, 32), asked = shape(1 << 21, 32);
    const auto stays = ask({row(rule(near), near, 1.02), row(scan(64, 8), near, 1.0)}, asked);
    EXPECT_EQ(stays.match, Match::near_shape);
    EXPECT_EQ(stays.point, rule(asked));
    EXPECT_NE(stays.reason.find("nothing gains 3 % on the rule of thumb"), std::string::npos) << stays.reason;
    const auto goes = ask({row(rule(near), near, 1.05), row(scan(64, 8), near, 1.0)}, asked);
    EXPECT_EQ(goes.point, scan(64, 8));
}

TEST(Lookup, AnotherStageIsNotTrustedWhereTheLongestSegmentIsUnknown)
{
    const auto own = problem();
    const auto near = shape(1 << 26, 32);
    Shape unknown{1 << 25, 1 << 20, 0};
    ASSERT_NE(Catalogue::standard().rule_of_thumb(own, unknown).name, "tile_scan");
    const auto found = ask({row(scan(64, 8), near, 1.0)}, unknown);
    EXPECT_NE(found.point->stage, "tile_scan") << "lengths may differ by any factor";
    unknown.longest = 64;
    EXPECT_EQ(ask({row(scan(64, 8), near, 1.0)}, unknown).point, scan(64, 8));
}

TEST(Lookup, ABorderOfTheRuleBetweenShapesStands)
{
    const Problem own(standard_operator("sum_f32"), SegmentForm::uniform);
    const auto rule = [&](const Shape& at) {
        const auto& stage = Catalogue::standard().rule_of_thumb(own, at);
        return Point{stage.name, default_configuration(stage, plan_facts(own, at))};
    };
    const auto of_length = [](std::int64_t length) {
        const auto segments = (1 << 24) / length;
        return Shape{segments * length, segments, length};
    };
    // Wherever the measured order has a border.
    std::int64_t length = 512;
    while (rule(of_length(length)).stage == rule(of_length(length + 8)).stage ||
           rule(of_length(length)).stage != rule(of_length(length - 8)).stage)
        ASSERT_LT(length += 8, 1 << 20);
    const auto near = of_length(length + 8), asked = of_length(length - 8), closer = of_length(length);
    const auto ask_uniform = [&](const Shape& measured) {
        std::vector<TuningRecord> rows = {row(rule(near), measured, 1.0), row(rule(asked), measured, 1.5)};
        for (auto& record : rows) {
            record.op_hash = operator_hash(own.op);
            record.problem = class_of(own);
        }
        return look_up(RecordStore::of(std::move(rows)), {kHere, own, asked, Catalogue::standard()});
    };
    const auto stays = ask_uniform(near);
    EXPECT_EQ(stays.match, Match::near_shape);
    EXPECT_EQ(stays.point, rule(asked)) << "the rule itself takes the other stage there";
    EXPECT_EQ(ask_uniform(closer).point, rule(near)) << "the rule is slower on its own side";
}

TEST(Lookup, AnotherDeviceSaysSoAndFallsBack)
{
    const auto at = shape(1 << 20, 32);
    const auto found = ask({row(scan(64, 8), at, 0.4, TuningPhase::chosen, kElsewhere)}, at);
    EXPECT_EQ(found.match, Match::other_device);
    EXPECT_FALSE(found.point);
    EXPECT_EQ(found.reason,
              "other device: the records for this class of problem are of Fake GPU, and this is NVIDIA H200; "
              "they only seed a search");
    EXPECT_EQ(found.seeds, std::vector<Point>{scan(64, 8)});
    auto slower = kHere;
    slower.multiprocessors = 16;  // a MIG slice of the same GPU
    EXPECT_EQ(ask({row(scan(64, 8), at, 0.4)}, at, slower).match, Match::other_device);
    const auto none = ask({}, at);
    EXPECT_EQ(none.match, Match::none);
    EXPECT_FALSE(none.point);
}

TEST(Lookup, ImpossibleConfigurationsAreReportedAndIgnored)
{
    const auto at = shape(1 << 20, 32);
    const auto found = ask({row(scan(96, 8), at, 0.01, TuningPhase::chosen),
                            row({"tile_scam", {}}, at, 0.01, TuningPhase::chosen), row(scan(64, 8), at, 0.4)},
                           at);
    EXPECT_EQ(found.point, scan(64, 8));
    ASSERT_EQ(found.ignored.size(), 2u);
    EXPECT_EQ(found.ignored[0],
              "test.jsonl:1: tile_scan block_threads=96 items_per_thread=8 is ignored: stage tile_scan: "
              "block_threads cannot be 96; its values are 256, 64, 128");
    EXPECT_NE(found.ignored[1].find("unknown stage 'tile_scam'"), std::string::npos);
    const auto only = ask({row(scan(96, 8), at, 0.01, TuningPhase::chosen)}, at);
    EXPECT_EQ(only.match, Match::none);
    EXPECT_EQ(only.ignored.size(), 1u);
}

TEST(Lookup, AnotherTextOfTheStageMakesRowsSeeds)
{
    const auto at = shape(1 << 20, 32);
    auto stale = row(scan(64, 8), at, 0.4, TuningPhase::chosen);
    stale.stage_hash = "0123456789abcdef";
    const auto found = ask({stale}, at);
    EXPECT_FALSE(found.point);
    EXPECT_NE(found.reason.find("earlier texts"), std::string::npos);
    EXPECT_EQ(found.seeds, std::vector<Point>{scan(64, 8)});
}

TEST(Lookup, WhatAnEarlierTextOutranDecidesNothing)
{
    const auto at = shape(1 << 20, 32);
    const auto with = [&](double earlier, TuningPhase phase) {
        auto stale = row(scan(64, 8), at, earlier, TuningPhase::chosen);
        stale.stage_hash = "0123456789abcdef";
        return ask({row(scan(256, 8), at, 0.5, phase), stale}, at);
    };
    const auto found = with(0.4, TuningPhase::ranked);
    EXPECT_FALSE(found.point) << "the plan that came second is no answer";
    EXPECT_NE(found.reason.find("earlier texts"), std::string::npos);
    EXPECT_EQ(found.seeds.size(), 2u);
    EXPECT_EQ(with(0.495, TuningPhase::ranked).point, scan(256, 8)) << "as fast as the earlier text";
    EXPECT_EQ(with(0.4, TuningPhase::pinned).point, scan(256, 8));
    EXPECT_FALSE(with(0.4, TuningPhase::chosen).point)
        << "it was chosen before the earlier text was measured";
    auto stale = row(scan(64, 8), at, 0.4, TuningPhase::chosen);
    stale.stage_hash = "0123456789abcdef";
    EXPECT_EQ(ask({stale, row(scan(256, 8), at, 0.5, TuningPhase::chosen)}, at).point, scan(256, 8));
    stale.phase = TuningPhase::screened;
    EXPECT_EQ(ask({row(scan(256, 8), at, 0.5), stale}, at).point, scan(256, 8)) << "luck of a single look";
    stale.phase = TuningPhase::ranked;
    const auto near =
        ask({row(scan(256, 8), at, 0.5), stale, row(scan(256, 8), shape(1 << 21, 32), 1.0)}, at);
    EXPECT_EQ(near.match, Match::near_shape);
    EXPECT_NE(near.reason.find("nothing as fast was measured at"), std::string::npos) << near.reason;
}

TEST(Lookup, ClassesAreApart)
{
    const auto at = shape(1 << 20, 32);
    const Problem wide(standard_operator("mean_variance"), SegmentForm::offsets);
    EXPECT_EQ(
        look_up(RecordStore::of({row(scan(64, 8), at, 0.4)}), {kHere, wide, at, Catalogue::standard()}).match,
        Match::none);
}

TEST(KnownTrials, HoldWhatWasMeasuredOfExactlyThis)
{
    const auto at = shape(1 << 20, 32);
    const auto own = problem();
    const auto space = SearchSpace::of(own, at, Catalogue::standard());
    auto crashed = row(scan(128, 4), at, 0);
    crashed.measurement.outcome = MeasurementOutcome::runtime;
    auto other_operator = row(scan(128, 8), at, 1);
    other_operator.op_hash = "0";
    const auto known =
        known_trials(RecordStore::of({row(scan(64, 8), at, 0.4, TuningPhase::ranked),
                                      row(scan(64, 8), at, 0.5, TuningPhase::screened), crashed,
                                      other_operator, row(scan(256, 8), shape(1 << 21, 32), 1)}),
                     {kHere, own, at, Catalogue::standard()}, space);
    ASSERT_EQ(known.size(), 2u);
    for (const auto& trial : known)
        if (space[trial.place] == scan(64, 8))
            EXPECT_EQ(trial.measurement.milliseconds, 0.4) << "of many runs rather than of few";
        else
            EXPECT_EQ(trial.measurement.outcome, MeasurementOutcome::runtime)
                << "failures are not tried again";
}

}  // namespace
}  // namespace segfold::tune::tune_records_test
