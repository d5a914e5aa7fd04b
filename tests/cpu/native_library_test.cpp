// Every standard operator by every native stage, against the reference and Thrust.
//
// Each pair of an operator and a stage takes one form of segments, by turns, with every layout that is read
// in that form; texts are compiled with -O0. SEGFOLD_LIBRARY=all has every pair take every form, compiled as
// runs compile: that takes some minutes.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "codegen/catalogue.h"
#include "dsl/derived.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/module.h"
#include "tests/common/brief_tests.h"
#include "tests/common/library_cases.h"

namespace segfold::test::native_library_test {
namespace {

constexpr SegmentForm kForms[] = {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                                  SegmentForm::ranges};

bool meets_everything()
{
    const char* asked = std::getenv("SEGFOLD_LIBRARY");
    return asked != nullptr && std::string(asked) == "all";
}

/// Whether elements would have several outputs: ranges of these tests overlap.
bool is_shared(const Operator& op, SegmentForm form)
{
    return !op.outputs.empty() && form == SegmentForm::ranges;
}

/// The turn of an operator: its number, among those of running results where it is one of them.
std::size_t turn_of(const LibraryOperator& library, const Operator& op)
{
    static std::vector<std::string> running;
    if (!op.scan)
        return library.number;
    if (running.empty())
        for (const auto& one : test::library())
            if (one.op().scan)
                running.push_back(one.name);
    return static_cast<std::size_t>(std::ranges::find(running, library.name) - running.begin());
}

/// The forms in which a stage meets an operator: the one whose turn it is, or all; none where it does not
/// serve.
std::vector<SegmentForm> forms_of(const LibraryOperator& library, std::size_t stage_number)
{
    const auto op = library.op();
    const auto& stage = Catalogue::native().stages()[stage_number];
    std::vector<SegmentForm> met;
    const auto turn = turn_of(library, op);
    for (std::size_t i = 0; i < std::size(kForms) && (met.empty() || meets_everything()); ++i) {
        const auto form = kForms[(turn + stage_number + i) % std::size(kForms)];
        if (!is_shared(op, form) && !Catalogue::native().unmet(stage, Problem(op, form)))
            met.push_back(form);
    }
    return met;
}

Segments segments_of(LayoutKind kind, bool empties)
{
    // Tiles have 512 items, shares 1024 steps.
    std::vector<std::int64_t> lengths = {3, 509, 1, 514, 31, 2, 700, 16, 1500, 64, 15, 17};
    if (kind == LayoutKind::whole)
        return whole_segments(2 * 1024 + 517);
    if (kind == LayoutKind::uniform)
        return uniform_segments(77 * 33, 33);
    if (empties && kind != LayoutKind::flags && kind != LayoutKind::keys)
        for (const auto place : {0, 4, 4, 14})
            lengths.insert(lengths.begin() + place, 0);
    if (kind == LayoutKind::lengths)
        return segments_from_lengths(index_array(lengths), total(lengths));
    return segments_in_form(form_of(kind), lengths);
}

/// Shares and tiles as small as they may be.
Configuration small_configuration(const Stage& stage)
{
    std::map<std::string, int> chosen;
    for (const auto& tunable : stage.tunables)
        if (tunable.name == "share_steps" || tunable.name == "lane_items")
            chosen[tunable.name] = std::ranges::min(tunable.values);
    return configure(stage, chosen);
}

class NativeLibrary : public testing::TestWithParam<LibraryOperator> {
protected:
    static void SetUpTestSuite()
    {
        if (!meets_everything())
            compile_briefly();
    }
    void SetUp() override
    {
        if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
            GTEST_SKIP() << reason;
    }
};

TEST_P(NativeLibrary, AgreesWithReferenceAndThrust)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto op = GetParam().op();
    const auto& catalogue = Catalogue::native();
    const auto backend = make_backend("cpu");
    int folds = 0;
    for (std::size_t i = 0; i < catalogue.stages().size(); ++i) {
        const auto& stage = catalogue.stages()[i];
        for (const auto form : forms_of(GetParam(), i)) {
            Problem problem(op, form);
            problem.target = backend->target();
            const auto plan = emit(problem, stage, small_configuration(stage), catalogue);
            for (const auto kind : kLayoutKinds) {
                if (served_form(stage, form_of(kind)) != form)
                    continue;
                const auto workload = library_workload(op, segments_of(kind, op.allows_empty()), 11);
                const auto results = backend->run(
                    workload, &plan, {.launches = 2, .shifted_elements = 1, .scratch_poison = 0xa5});
                expect_agreement(workload, results, stage.name + ", " + std::string(name(kind)));
                ++folds;
            }
        }
    }
    EXPECT_GT(folds, 0) << "no stage takes it";
}

INSTANTIATE_TEST_SUITE_P(Library, NativeLibrary, testing::ValuesIn(library()),
                         [](const auto& info) { return print(info.param); });

TEST(NativeLibraryTurns, EveryStageMeetsEveryFormItServes)
{
    const auto& stages = Catalogue::native().stages();
    std::set<std::pair<std::size_t, SegmentForm>> met;
    for (const auto& library : library())
        for (std::size_t i = 0; i < stages.size(); ++i)
            for (const auto form : forms_of(library, i))
                met.emplace(i, form);
    const auto sum = standard_operator("sum_i32"), running = scanned(sum, {});
    for (std::size_t i = 0; i < stages.size(); ++i) {
        for (const auto form : kForms) {
            const bool serves =
                !Catalogue::native().unmet(stages[i], Problem(sum, form)) ||
                (!is_shared(running, form) && !Catalogue::native().unmet(stages[i], Problem(running, form)));
            EXPECT_EQ(met.contains({i, form}), serves) << stages[i].name << ", " << name(form);
        }
    }
}

}  // namespace
}  // namespace segfold::test::native_library_test
