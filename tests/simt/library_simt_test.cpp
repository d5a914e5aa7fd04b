// Compares every standard operator on the fiber executor with the reference and Thrust.
//
// Operators and pairs of a stage and a layout are matched so that each operator meets a pair, and each pair
// an operator. With SEGFOLD_LIBRARY=all, every operator meets every pair, which takes some minutes.
#include <cstdlib>
#include <map>

#include "dsl/derived.h"
#include "runtime/backends/simt_backend.h"
#include "tests/common/brief_tests.h"
#include "tests/common/library_cases.h"

namespace segfold::test::library_simt_test {
namespace {

constexpr LayoutKind kKinds[] = {LayoutKind::whole,  LayoutKind::uniform, LayoutKind::offsets,
                                 LayoutKind::ranges, LayoutKind::lengths, LayoutKind::flags,
                                 LayoutKind::keys};

struct Pair {
    Stage stage;
    LayoutKind kind;
};

/// Outputs of elements are refused for segments that kernels find, and for ranges that overlap, as these do.
bool serves(const Pair& pair, const Operator& op)
{
    const auto form = form_of(pair.kind);
    return !(!op.outputs.empty() && (converted_form(form) != form || form == SegmentForm::ranges)) &&
           !Catalogue::standard().unmet(pair.stage, Problem(op, form));
}

/// Pairs that fold or scan columns of numbers.
std::vector<Pair> pairs()
{
    const auto sum = standard_operator("sum_i32"), running = scanned(sum, {});
    std::vector<Pair> all;
    for (const auto& stage : plans())
        for (const auto kind : kKinds)
            if (serves({stage, kind}, sum) || serves({stage, kind}, running))
                all.push_back({stage, kind});
    return all;
}

/// The pairs for each operator, by its number: the first pair from that number on that serves it, and pairs
/// that would meet no other operator. In the long form, all pairs that serve it.
std::map<std::size_t, std::vector<Pair>> meetings()
{
    const auto all = pairs();
    const auto operators = library();
    const char* asked = std::getenv("SEGFOLD_LIBRARY");
    const bool every = asked != nullptr && std::string(asked) == "all";
    std::map<std::size_t, std::vector<Pair>> met;
    std::vector<bool> is_met(all.size());
    for (const auto& library : operators)
        for (std::size_t i = 0; i < all.size() && (every || met[library.number].empty()); ++i) {
            const auto place = (library.number + i) % all.size();
            if (!serves(all[place], library.op()))
                continue;
            met[library.number].push_back(all[place]);
            is_met[place] = true;
        }
    for (std::size_t place = 0; place < all.size(); ++place)
        for (std::size_t i = 0; i < operators.size() && !is_met[place]; ++i) {
            const auto& library = operators[(place + i) % operators.size()];
            if (!serves(all[place], library.op()))
                continue;
            met[library.number].push_back(all[place]);
            is_met[place] = true;
        }
    return met;
}

const std::vector<Pair>& pairs_of(const LibraryOperator& library)
{
    static const auto all = meetings();
    return all.at(library.number);
}

Segments segments_of(LayoutKind kind, std::int64_t tile, bool empties)
{
    std::vector<std::int64_t> lengths = {3, tile - 3, 1, tile + 2, 31, 2, 64};
    if (kind == LayoutKind::whole)
        return whole_segments(2 * tile + 5);
    if (kind == LayoutKind::uniform)
        return uniform_segments(33 * 4, 33);
    if (empties && kind != LayoutKind::flags && kind != LayoutKind::keys)
        lengths.insert(lengths.begin() + 2, {0, 0});
    if (kind == LayoutKind::lengths)
        return segments_from_lengths(index_array(lengths), total(lengths));
    return segments_in_form(form_of(kind), lengths);
}

class LibraryOnSimt : public testing::TestWithParam<LibraryOperator> {};

TEST_P(LibraryOnSimt, AgreesWithReferenceAndThrust)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto op = GetParam().op();
    const auto met = pairs_of(GetParam());
    ASSERT_FALSE(met.empty()) << "no stage takes it";
    for (const auto& [stage, kind] : met) {
        const Problem problem(op, form_of(kind));
        const auto configuration = smallest_configuration(stage, problem);
        const auto tile = std::min<std::int64_t>(block_and_tile(configuration).second, 300);
        const auto workload = library_workload(op, segments_of(kind, tile, op.allows_empty()), 11);
        const auto results = simt::run(workload, emit(problem, stage, configuration),
                                       simt::options_from_seed(GetParam().number + 1));
        expect_agreement(workload, results, stage.name + ", " + std::string(name(kind)));
    }
}

INSTANTIATE_TEST_SUITE_P(Library, LibraryOnSimt, testing::ValuesIn(library()),
                         [](const auto& info) { return print(info.param); });

TEST(LibraryOnSimt, EveryPairMeetsAnOperator)
{
    std::map<std::string, int> met;
    for (const auto& library : library())
        for (const auto& [stage, kind] : pairs_of(library))
            ++met[stage.name + ", " + std::string(name(kind))];
    for (const auto& pair : pairs()) {
        const auto called = pair.stage.name + ", " + std::string(name(pair.kind));
        EXPECT_GT(met[called], 0) << called;
    }
}

}  // namespace
}  // namespace segfold::test::library_simt_test
