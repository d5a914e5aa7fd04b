// Running results and write-back of groups whose elements are read in parts, by streams and by ranks, beside
// folds in one piece.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "dsl/error.h"
#include "runtime/data/groups.h"
#include "runtime/scale/fold_stream.h"
#include "runtime/scale/ranks/ranks.h"
#include "runtime/scale/ranks/thread_ranks.h"
#include "tests/common/front_door.h"
#include "tests/scale/scan_cases.h"

namespace segfold::test::group_outputs_test {
namespace {

/// Outputs from results of groups: every place, names of results that are not returned, and both parts.
std::vector<Operator> mapping_operators()
{
    std::vector<Operator> operators;
    const auto add = [&](const std::string& text) { operators.push_back(parse_operator("maps", text)); };
    add(R"(operator mapped(x: i32, column: i32, t: table u32) -> (hash: u64, each seen: u64, each where: i64) {
        state { hash: u64 = 0; power: u64 = 1 }
        lift { hash = u64(index) * 1000003 + u64(position) * 10007 + u64(x) + u64(t[column]); power = 31 }
        combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        finish { hash = hash ^ u64(length * 7 + segment) }
        map { let twice = hash * 2; seen = twice + u64(t[column]); where = index * 5 + position * 3 + segment + length * i64(x) }
    })");
    add(R"(operator hidden(x: i32) -> (each seen: i32) {
        state { first: i32; last: i32 }
        lift { first = x; last = x }
        combine(a, b) { first = a.first; last = b.last }
        map { seen = first * 1000 + last - x }
    })");
    for (const std::string direction : {"", "reverse"})
        add("operator both(y: i32) -> (" + std::string(direction.empty() ? "last: i32, " : "") +
            "each share: i32, each so_far: i32) {" +
            R"(
        state { first: i32 = -1; last: i32 = -1; n: i32 = 0 }
        lift { first = y; last = y; n = 1 }
        combine(a, b) { first = a.n == 0 ? b.first : a.first; last = b.n == 0 ? a.last : b.last; n = a.n + b.n }
        )" + std::string(direction.empty() ? "finish { last = last * 100 + first }" : "") +
            R"(
        map { share = last * 10 + y + i32(position) }
        scan )" +
            direction + R"((before, through) { so_far = before.n * 1000 + through.first * 10 + through.last }
    })");
    return operators;
}

/// Columns and numbers of groups, of which two are empty; some elements belong to no group.
struct Elements {
    Elements(const Operator& op, std::int64_t count, std::int64_t num_groups)
        : workload(slice_workload(op, whole_segments(count)))
    {
        std::mt19937 random(7);
        for (std::int64_t i = 0; i < count; ++i) {
            const auto drawn = static_cast<std::int64_t>(random() % (num_groups + 1U)) - 1;
            numbers.push_back(static_cast<std::int16_t>(drawn == 3 || drawn == num_groups - 1 ? 0 : drawn));
        }
    }

    [[nodiscard]] StreamInput input(const StreamGroups& groups) const
    {
        StreamInput all;
        for (const auto& array : workload.arrays)
            all.parameters.push_back(memory_source(array));
        all.segments.kind = LayoutKind::groups;
        all.segments.array = memory_source(Array::of<std::int16_t>(Type::i16, numbers));
        all.segments.groups = groups;
        return all;
    }

    Workload workload;
    std::vector<std::int16_t> numbers;
};

using Fields = std::vector<std::vector<std::byte>>;

void add(Fields& fields, const Results& results, bool in_front = false)
{
    fields.resize(std::max(fields.size(), results.size()));
    for (std::size_t f = 0; f < results.size(); ++f) {
        const auto& array = results[f].array;
        fields[f].insert(in_front ? fields[f].begin() : fields[f].end(), array.data(),
                         array.data() + array.bytes());
    }
}

Fields of_one_piece(Session& session, const Elements& made, const StreamGroups& kind)
{
    std::vector<ArrayView> inputs;
    for (const auto& array : made.workload.arrays)
        inputs.push_back(view_of(array));
    const ArrayView marks(made.numbers);
    Fields fields;
    const auto folded = session.fold(made.workload.op, inputs,
                                     kind.order ? by(marks, *kind.order) : groups(marks, kind.num_groups));
    add(fields, folded.results());
    if (folded.results().keys) {
        fields.emplace_back();
        const auto& keys = *folded.results().keys;
        fields.back().assign(keys.data(), keys.data() + keys.bytes());
    }
    return fields;
}

Fields of_stream(Session& session, const Elements& made, const StreamGroups& kind, std::int64_t bytes)
{
    StreamOptions options;
    options.memory_bytes = bytes;
    const auto& op = made.workload.op;
    Stream stream(session, op, made.input(kind), options);
    Fields fields;
    const bool is_reverse = op.scan && op.scan->reverse;
    stream.run([&](StreamResults&& results, const StreamState& state) {
        EXPECT_EQ(results.num_segments == 0 || state.is_end, true);
        for (auto& output : results.running)
            results.results.push_back(std::move(output));
        if (results.results.keys)
            results.results.push_back({"keys", std::move(*results.results.keys)});
        add(fields, results.results, is_reverse);
    });
    return fields;
}

Fields of_ranks(int size, const Elements& made, const StreamGroups& kind, std::int64_t bytes)
{
    Fields fields;
    run_thread_ranks(size, [&](Communicator& ranks) {
        auto session = session_on("reference");
        StreamOptions options;
        options.memory_bytes = bytes;
        const auto& op = made.workload.op;
        Stream stream(session, op, made.input(kind), options);
        gather_at_first(ranks, op, fold_share(ranks, stream, {1 << 20, 1 << 20, 1 << 20}),
                        [&](RankResults&& one) {
                            EXPECT_EQ(one.num_segments, std::ssize(one.lengths));
                            for (auto& output : one.running)
                                one.results.push_back(std::move(output));
                            if (one.results.keys)
                                one.results.push_back({"keys", std::move(*one.results.keys)});
                            add(fields, one.results);
                        });
    });
    return fields;
}

/// Operators with outputs, and folds, whose ranks travel alike.
std::vector<Operator> group_operators()
{
    auto operators = streamed_scans();
    std::ranges::move(mapping_operators(), std::back_inserter(operators));
    std::ranges::move(slice_operators(), std::back_inserter(operators));
    return operators;
}

bool reads_number(const Operator& op)
{
    return uses_name(op.lift, "segment") || (op.scan && uses_name(op.scan->block, "segment"));
}

const StreamGroups kKinds[] = {{9, {}}, {{}, {}}, {{}, KeyOrder::ascending}, {{}, KeyOrder::first}};

/// True if data of this kind may have groups that the operator has no results for.
bool refuses(const Operator& op, const StreamGroups& kind)
{
    return !kind.order && !op.takes_empty_segments();
}

TEST(GroupOutputs, StreamsGiveWhatOnePieceGives)
{
    auto session = session_on("reference");
    int turn = 0;
    for (const auto& op : group_operators())
        for (const std::int64_t count : {0, 1, 300})
            for (const auto& kind : kKinds) {
                const Elements made(op, count, 9);
                if (refuses(op, kind) || (kind.order && reads_number(op)))
                    continue;
                const auto right = of_one_piece(session, made, kind);
                const std::int64_t bytes =
                    std::array{600, 5000, 1 << 20}[static_cast<std::size_t>(turn++ % 3)];
                EXPECT_TRUE(of_stream(session, made, kind, bytes) == right)
                    << op.name << " of " << count << " within " << bytes << ", kind "
                    << &kind - std::begin(kKinds);
            }
}

TEST(GroupOutputs, RanksGiveWhatOnePieceGives)
{
    auto session = session_on("reference");
    int turn = 0;
    for (const auto& op : group_operators())
        for (const std::int64_t count : {0, 2, 150})
            for (const auto& kind : kKinds) {
                const Elements made(op, count, 9);
                if (refuses(op, kind) || (kind.order && reads_number(op)))
                    continue;
                const int size = std::array{1, 2, 3, 7}[static_cast<std::size_t>(turn++ % 4)];
                EXPECT_TRUE(of_ranks(size, made, kind, 2000) == of_one_piece(session, made, kind))
                    << op.name << " of " << count << " by " << size << ", kind "
                    << &kind - std::begin(kKinds);
            }
}

class GroupOutputsOn : public testing::TestWithParam<const char*> {};

/// On kernels: an output of elements in no group is 0.
TEST_P(GroupOutputsOn, SlicesAreFoldedByKernels)
{
    auto session = session_on(GetParam());
    for (const auto* name : {"mapped", "both"})
        for (const auto& op : mapping_operators()) {
            if (op.name != name)
                continue;
            const Elements made(op, 500, 9);
            EXPECT_TRUE(of_stream(session, made, kKinds[0], 20000) == of_one_piece(session, made, kKinds[0]))
                << name;
        }
    const auto affine = scanned(standard_operator("affine_u32"), {true, false});
    const Elements made(affine, 500, 9);
    EXPECT_TRUE(of_stream(session, made, kKinds[0], 20000) == of_one_piece(session, made, kKinds[0]));
}

INSTANTIATE_TEST_SUITE_P(Backends, GroupOutputsOn, testing::Values("cpu", "simt"),
                         [](const auto& info) { return std::string(info.param); });

TEST(GroupOutputs, CallsTakeThem)
{
    auto session = session_on("reference");
    const auto op = parse_operator("centred", R"(operator centred(x: i32) -> (each y: i32) {
        state s: i32 = 0  lift x  combine(a, b) a + b  map { y = x * 100 - s } })");
    const std::vector<std::int32_t> x = {1, 2, 4, 8}, numbers = {1, 0, 1, -1};
    FoldStreamOptions options;
    options.memory_bytes = 200;
    std::vector<std::int32_t> found;
    const auto streamed =
        fold_stream(session, op, {x}, groups(numbers, 3), options, [&](const Folded& results, std::int64_t) {
            std::ranges::copy(results.values<std::int32_t>("y"), std::back_inserter(found));
        });
    EXPECT_EQ(found, (std::vector<std::int32_t>{95, 198, 395, 0}));
    EXPECT_EQ(streamed.elements, 4);
    EXPECT_EQ(streamed.segments, 3);
}

TEST(GroupOutputs, WrongOnesAreRefused)
{
    auto session = session_on("reference");
    const std::vector<std::int32_t> x = {5, 6, 7}, numbers = {1, 0, 3};
    const auto refusal = [&](const Operator& op, const StreamArray& values, const StreamSegments& segments) {
        return message_of<InputError>(
            [&] { fold_stream(session, op, {values}, segments, {}, [](const Folded&, std::int64_t) {}); });
    };
    const auto mapped = parse_operator("m", R"(operator m(x: i32) -> (each y: i32) {
        state s: i32 = 0  lift x  combine(a, b) a + b  map { y = x - s } })");
    const auto made = StreamArray::made<std::int32_t>([](std::span<std::int32_t>) { return 0; });
    EXPECT_EQ(
        refusal(mapped, made, groups(numbers, 4)),
        "operator m maps elements with the results of their groups, so that a stream reads all twice, and "
        "column 'x' is read from its begin alone, as a pipe or an iterator is; give a file or an array in "
        "memory");
    EXPECT_NE(refusal(mapped, x, whole()).find("groups in any order are read twice"), std::string::npos);
    EXPECT_NE(refusal(mapped, x, groups(numbers, 2)).find("the group of element 2 is 3"), std::string::npos);
    const auto reverse = scanned(standard_operator("sum_i32"), {false, true});
    EXPECT_NE(refusal(reverse, made, groups(numbers, 4)).find("scans segments from their end, and"),
              std::string::npos);
    const auto numbered = parse_operator("n", R"(operator n(x: i32) -> (each y: i64) {
        state s: i32 = 0  lift x  combine(a, b) a + b  scan(before, through) { y = segment } })");
    EXPECT_NE(refusal(numbered, x, by(numbers)).find("keys are numbered once all are read"),
              std::string::npos);
}

}  // namespace
}  // namespace segfold::test::group_outputs_test
