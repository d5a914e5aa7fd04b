// Partial results: the sum of parts, cut anywhere, is the result of the whole. So is the sum of parts that
// went through bytes.
#include "runtime/scale/partial.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "dsl/error.h"
#include "tests/common/message_of.h"
#include "tests/scale/slice_cases.h"

namespace segfold::test::partial_test {
namespace {

using Bytes = std::vector<std::byte>;
using Values = std::vector<Slot<double>>;

/// Cuts segments of given lengths into the smallest parts: single elements, and empty segments. Element i has
/// the value 7 i + 1.
class SmallestParts {
public:
    SmallestParts(const Operator& op, std::vector<std::int64_t> lengths, JoinOrder order = JoinOrder::as_cut)
        : op_(op), joining_(std::make_shared<Joining>(op, order)), evaluator_(joining_->bytecode)
    {
        for (std::int64_t s = 0, index = 0; s < std::ssize(lengths); ++s) {
            const auto length = lengths[static_cast<std::size_t>(s)];
            for (std::int64_t position = 0; position < length; ++position)
                parts_.push_back({{s, position, 1, position + 1 < length}, index++});
            if (length == 0)
                parts_.push_back({{s, 0, 0, false}, index});
        }
        num_segments_ = std::ssize(lengths);
    }

    [[nodiscard]] std::size_t size() const { return parts_.size(); }
    [[nodiscard]] const std::shared_ptr<const Joining>& joining() const { return joining_; }
    [[nodiscard]] Partial nothing() const { return Partial(joining_); }

    [[nodiscard]] Partial at(std::size_t i)
    {
        const auto& [part, index] = parts_[i];
        if (part.num_elements != 0)
            return Partial::of_part(joining_, part, lifted(part, index).data());
        Values result(evaluator_.result_fields());
        evaluator_.empty(part.segment, result.data());
        SegmentResults results{part.segment, 1};
        for (std::size_t f = 0; f < result.size(); ++f) {
            Array array(op_.results[f].type, 1);
            Machine<double>::store(result[f], array.type(), array.data(), 0);
            results.results.push_back({op_.results[f].name, std::move(array)});
        }
        return Partial::of_segments(joining_, std::move(results));
    }
    [[nodiscard]] Partial sum(std::size_t begin, std::size_t end)
    {
        auto all = nothing();
        for (auto i = begin; i < end; ++i)
            all += at(i);
        return all;
    }

    /// The results of all segments, folded from left to right without partials.
    [[nodiscard]] Bytes wanted()
    {
        std::vector<Array> arrays;
        for (const auto& field : op_.results)
            arrays.emplace_back(field.type, static_cast<std::size_t>(num_segments_));
        for (std::size_t i = 0; i < parts_.size();) {
            const auto segment = parts_[i].part.segment;
            Values state, result(evaluator_.result_fields());
            std::int64_t length = 0;
            for (; i < parts_.size() && parts_[i].part.segment == segment; ++i) {
                if (parts_[i].part.num_elements == 0)
                    continue;
                const auto next = lifted(parts_[i].part, parts_[i].index);
                if (length++ == 0)
                    state = next;
                else
                    evaluator_.combine(state.data(), next.data(), state.data());
            }
            if (length == 0)
                evaluator_.empty(segment, result.data());
            else
                evaluator_.finish(state.data(), segment, length, result.data());
            for (std::size_t f = 0; f < arrays.size(); ++f)
                Machine<double>::store(result[f], arrays[f].type(), arrays[f].data(), segment);
        }
        Bytes bytes;
        for (const auto& array : arrays)
            bytes.insert(bytes.end(), array.data(), array.data() + array.bytes());
        return bytes;
    }

private:
    struct Part {
        SegmentPart part;
        std::int64_t index = 0;
    };

    Values lifted(const SegmentPart& part, std::int64_t index)
    {
        Values values(joining_->bytecode.columns.size()), state(evaluator_.state_fields());
        for (auto& value : values)
            value.bits = static_cast<std::uint64_t>(7 * index + 1);
        evaluator_.lift(values.data(), index, part.position, part.segment, state.data());
        return state;
    }

    const Operator& op_;
    std::shared_ptr<const Joining> joining_;
    Evaluator<double> evaluator_;
    std::vector<Part> parts_;
    std::int64_t num_segments_ = 0;
};

Bytes bytes_of(const SegmentResults& results)
{
    Bytes bytes;
    for (const auto& [name, array] : results.results)
        bytes.insert(bytes.end(), array.data(), array.data() + array.bytes());
    return bytes;
}

/// Exact operators that are not commutative and read only columns.
std::vector<Operator> column_operators()
{
    auto operators = slice_operators();
    std::erase_if(operators, [](const Operator& op) {
        return std::ranges::any_of(op.parameters, [](const auto& parameter) { return parameter.table; });
    });
    return operators;
}

TEST(Partials, EveryPairOfCutsGivesTheWhole)
{
    for (const auto& op : column_operators())
        for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{},
                                                                          {0, 0, 0},
                                                                          {1},
                                                                          {30},
                                                                          {0, 0, 9, 0, 0},
                                                                          {1, 1, 1, 1},
                                                                          {3, 0, 17, 0, 2},
                                                                          {0, 4, 5, 0, 0, 6, 0}}) {
            if (!op.allows_empty() && std::ranges::count(lengths, 0) != 0)
                continue;
            SmallestParts parts(op, lengths);
            const auto n = parts.size();
            const auto all = parts.sum(0, n).to_bytes();
            EXPECT_EQ(bytes_of(parts.sum(0, n).take_results()), parts.wanted()) << op.name;
            for (std::size_t i = 0; i <= n; ++i)
                for (std::size_t k = i; k <= n; ++k) {
                    const auto first = [&] { return parts.sum(0, i); };
                    const auto second = [&] { return parts.sum(i, k); };
                    const auto third = [&] { return parts.sum(k, n); };
                    ASSERT_EQ(((first() + second()) + third()).to_bytes(), all) << op.name << i << " " << k;
                    ASSERT_EQ((first() + (second() + third())).to_bytes(), all) << op.name << i << " " << k;
                    const auto part = second();
                    ASSERT_EQ(Partial::from_bytes(parts.joining(), part.to_bytes()).to_bytes(),
                              part.to_bytes());
                }
        }
}

TEST(Partials, SayWhereSegmentsOpenAndClose)
{
    const auto op = standard_operator("trace_u64");
    SmallestParts parts(op, {2, 5, 1});
    const auto said = [&](std::size_t begin, std::size_t end) {
        const auto part = parts.sum(begin, end);
        return std::to_string(part.first_segment()) + (part.opens() ? " opens" : "") +
               (part.closes() ? " closes" : "") + " ended " + std::to_string(part.num_ended());
    };
    EXPECT_EQ(said(0, 8), "0 ended 3");
    EXPECT_EQ(said(0, 3), "0 closes ended 1");
    EXPECT_EQ(said(3, 5), "1 opens closes ended 0");
    EXPECT_EQ(said(3, 7), "1 opens ended 1");
    EXPECT_EQ(said(1, 7), "0 opens ended 2");
    EXPECT_EQ(said(1, 4), "0 opens closes ended 1");
    EXPECT_EQ(said(2, 4), "1 closes ended 0");
}

TEST(Partials, ResultsThatAreTakenAreNotGivenAgain)
{
    const auto op = standard_operator("trace_u64");
    SmallestParts parts(op, {2, 5, 1, 3});
    const auto whole = parts.sum(0, parts.size()).take_results();
    const auto wanted = whole.results.at(0).array.as<std::uint64_t>();
    auto all = parts.nothing();
    std::vector<std::uint64_t> taken;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        all += parts.at(i);
        all = Partial::from_bytes(parts.joining(), all.to_bytes());
        const auto results = all.take_results();
        EXPECT_EQ(results.first_segment, std::ssize(taken));
        for (const auto value : results.results.at(0).array.as<std::uint64_t>())
            taken.push_back(value);
    }
    EXPECT_EQ(taken, std::vector(wanted.begin(), wanted.end()));
    EXPECT_EQ(all.num_ended(), 4);

    // The results of both parts were taken. One segment is left, which the cut between them divides.
    auto earlier = parts.sum(0, 4), later = parts.sum(4, parts.size());
    EXPECT_EQ(earlier.take_results().num_segments, 1);
    EXPECT_EQ(later.take_results().num_segments, 2);
    earlier += std::move(later);
    const auto between = earlier.take_results();
    EXPECT_EQ(between.num_segments, 1);
    EXPECT_EQ(between.first_segment, 1);
    EXPECT_EQ(between.results.at(0).array.as<std::uint64_t>()[0], wanted[1]);
}

TEST(Partials, PartsThatDoNotFollowAreRefused)
{
    const auto op = standard_operator("trace_u64");
    SmallestParts parts(op, {2, 5, 1});
    const auto message = [&](std::size_t first, std::size_t second) {
        return message_of<InternalError>([&] { (void)(parts.at(first) + parts.at(second)); });
    };
    EXPECT_NE(message(0, 2).find("a part begins a segment while another one is open"), std::string::npos);
    EXPECT_NE(message(1, 3).find("a part goes on with a segment that no part has begun"), std::string::npos);
    EXPECT_NE(message(0, 3).find("begins with segment 1"), std::string::npos);
    EXPECT_NE(message(1, 7).find("begins with segment 2"), std::string::npos);
    EXPECT_THROW(parts.sum(1, 8).require_whole(), InternalError);
    EXPECT_THROW(parts.sum(0, 6).require_whole(), InternalError);
    EXPECT_NO_THROW(parts.sum(0, 8).require_whole());
    EXPECT_NO_THROW(parts.sum(0, 2).require_whole());
}

TEST(Partials, BlocksAreJoinedInOneOrder)
{
    // An operator that is neither associative nor commutative: equal results mean equal trees.
    const auto op = parse_operator("tree", R"(operator tree(x: u64) -> u64 {
        state hash: u64
        lift x
        combine(a, b) (a * 31 ^ b) * 1099511628211 + 1
    })");
    const auto joining = std::make_shared<const Joining>(op, JoinOrder::blocks);
    constexpr std::int64_t kBlocks = 37;
    const auto over = [&](std::int64_t first, std::int64_t last) {
        Partial all(joining);
        for (auto block = first; block < last; ++block) {
            Slot<double> state{};
            state.bits = static_cast<std::uint64_t>(block) * 77 + 5;
            all +=
                Partial::of_part(joining, {3, block * kJoinBlock, kJoinBlock, block + 1 < kBlocks}, &state);
        }
        return all;
    };
    // The expected result: 37 blocks form trees of 32, 4 and 1 blocks, which are combined from left to right.
    const std::function<std::uint64_t(std::uint64_t, std::uint64_t)> tree = [&](std::uint64_t begin,
                                                                                std::uint64_t count) {
        if (count == 1)
            return begin * 77 + 5;
        return (tree(begin, count / 2) * 31 ^ tree(begin + count / 2, count / 2)) * 1099511628211U + 1;
    };
    const auto both = [](std::uint64_t a, std::uint64_t b) { return (a * 31 ^ b) * 1099511628211U + 1; };
    const auto wanted = both(both(tree(0, 32), tree(32, 4)), tree(36, 1));
    for (std::int64_t first = 1; first < kBlocks; ++first)
        for (auto second = first; second <= kBlocks; second += 5) {
            auto all = over(0, first) + over(first, second) +
                       Partial::from_bytes(joining, over(second, kBlocks).to_bytes());
            const auto results = all.take_results();
            ASSERT_EQ(results.results.at(0).array.as<std::uint64_t>()[0], wanted)
                << first << " and " << second;
            EXPECT_EQ(results.first_segment, 3);
        }
}

TEST(Partials, DamagedBytesAreRefusedInWords)
{
    const auto op = standard_operator("mean_variance_f32");
    SmallestParts parts(op, {20});
    const auto good = parts.sum(3, 9).to_bytes();
    EXPECT_EQ(good.size(), 80U + 16 + 4 * 8);  // one node of four fields
    const auto refused = [&](const Bytes& bytes, const std::shared_ptr<const Joining>& joining) {
        return message_of<InputError>([&] { (void)Partial::from_bytes(joining, bytes); });
    };
    const auto says = [](const std::string& message, const std::string& words) {
        EXPECT_NE(message.find(words), std::string::npos) << message;
    };
    for (std::size_t length = 0; length < good.size(); ++length)
        says(refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}, parts.joining()),
             length < 80 ? "cut short" : "damaged");
    auto longer = good;
    longer.push_back({});
    says(refused(longer, parts.joining()), "damaged");
    for (std::size_t i = 0; i < good.size(); ++i) {
        auto bytes = good;
        bytes[i] ^= std::byte{4};
        says(refused(bytes, parts.joining()), i < 3    ? "do not begin with SFP"
                                              : i == 3 ? "version '5'"
                                                       : "damaged");
    }
    const SmallestParts other(standard_operator("sum_f32"), {}), in_blocks(op, {}, JoinOrder::blocks);
    says(refused(good, other.joining()), "of another operator");
    says(refused(good, in_blocks.joining()), "another order of combination");
}

/// Reads X from a message "their checksum is X, and they say Y".
std::uint64_t named_checksum(const std::string& message)
{
    const std::string words = "checksum is ";
    const auto at = message.find(words);
    return at == std::string::npos ? 0 : std::stoull(message.substr(at + words.size(), 16), nullptr, 16);
}

/// Bytes with wrong numbers and a right checksum are refused, or make a partial that can be added or is
/// refused then. Nothing crashes.
TEST(Partials, ForgedBytesDoNoHarm)
{
    const auto op = standard_operator("trace_u64");
    SmallestParts parts(op, {2, 5, 3, 4});
    const auto good = parts.sum(1, 9).to_bytes();
    std::size_t num_refused = 0;
    for (std::size_t at = 4; at < 80; at += 4)
        for (const std::uint32_t value : {0U, 1U, 2U, 3U, 7U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
            if (at == 8 || at == 12)  // the checksum itself
                continue;
            auto bytes = good;
            std::memcpy(&bytes[at], &value, sizeof value);
            const auto right = named_checksum(
                message_of<InputError>([&] { (void)Partial::from_bytes(parts.joining(), bytes); }));
            if (bytes != good) {
                ASSERT_NE(right, 0U) << at << " " << value;
                std::memcpy(&bytes[8], &right, sizeof right);
            }
            try {
                auto all =
                    parts.at(0) + Partial::from_bytes(parts.joining(), bytes) + parts.sum(9, parts.size());
                (void)all.take_results();
            } catch (const Error& error) {
                EXPECT_EQ(named_checksum(error.what()), 0U) << error.what();
                ++num_refused;
            }
        }
    EXPECT_GT(num_refused, 60U);
}

}  // namespace
}  // namespace segfold::test::partial_test
