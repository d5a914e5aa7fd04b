// The texts of peers: what they take from the operator, and which operators they refuse.
#include "codegen/peers/peer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "dsl/derived.h"
#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::peer_test {
namespace {

constexpr SegmentForm kForms[] = {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                                  SegmentForm::ranges};

Operator parse(const std::string& text) { return parse_operator("test.seg", text); }

std::string text_of(const Operator& op, const char* name, SegmentForm form, int bits = 32)
{
    return emit_peer(Problem(op, form, bits), peer(name)).source;
}

bool mentions(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

/// An operator that asks for everything: places in lift, segment and length in finish, no identity, two
/// columns.
Operator demanding()
{
    return parse(R"(operator demanding(x: f16, w: i64) -> (total: f32, place: i64, mean: f32) {
  state   { total: f32; place: i64 }
  lift    { total = f32(x) * f32(w); place = position + segment * 2 }
  combine(a, b) { total = a.total + b.total; place = max(a.place, b.place) }
  finish  { total = total; place = place + segment; mean = total / f32(length) }
  empty   { total = 0; place = -1; mean = nan }
  laws    commutative
})");
}

/// A scan that reads both states, a column that lift does not read, and places.
Operator streak()
{
    return parse(R"(operator streak(x: i32, w: i64) -> (each grown: i64, each place: i64) {
  state   { count: i64 = 0; best: i32 = 0 }
  lift    { count = position; best = x }
  combine(a, b) { count = a.count + b.count; best = max(a.best, b.best) }
  scan(before, through) { grown = i64(through.best - before.best) * w; place = through.count + segment }
})");
}

TEST(Peer, NamesAreKnown)
{
    std::vector<std::string_view> names;
    for (const auto& known : peers())
        names.push_back(known.name);
    EXPECT_EQ(names, (std::vector<std::string_view>{
                         "cub_segmented", "cub_segmented_hint", "cub_fixed_size", "cub_reduce",
                         "cub_reduce_by_key", "thrust_reduce_by_key", "thrust_omp", "thrust_tbb", "cub_scan",
                         "cub_scan_by_key", "thrust_scan", "thrust_scan_by_key", "thrust_omp_scan",
                         "thrust_omp_scan_by_key", "thrust_tbb_scan", "thrust_tbb_scan_by_key"}));
    try {
        (void)peer("cub_reduse");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(
            error.what(),
            "unknown peer 'cub_reduse'; the peers are cub_segmented, cub_segmented_hint, cub_fixed_size, "
            "cub_reduce, cub_reduce_by_key, thrust_reduce_by_key, thrust_omp, thrust_tbb, cub_scan, "
            "cub_scan_by_key, thrust_scan, thrust_scan_by_key, thrust_omp_scan, thrust_omp_scan_by_key, "
            "thrust_tbb_scan, thrust_tbb_scan_by_key; did you mean 'cub_reduce'?");
    }
}

/// Elements in groups are sorted by the host's peers, in their order, and no peer knows their places.
TEST(Peer, GroupsAreSortedFirst)
{
    const auto text = text_of(standard_operator("affine_f32"), "thrust_omp", SegmentForm::groups);
    EXPECT_TRUE(mentions(text, "thrust::stable_sort_by_key(")) << text;
    EXPECT_TRUE(mentions(text, "thrust::reduce_by_key(")) << text;
    EXPECT_TRUE(mentions(text, "#include <vector>")) << text;
    EXPECT_FALSE(
        mentions(text_of(standard_operator("affine_f32"), "thrust_omp", SegmentForm::offsets), "sort"));
    EXPECT_TRUE(unmet(peer("thrust_tbb"), Problem(demanding(), SegmentForm::groups, 32)));
    EXPECT_TRUE(
        unmet(peer("cub_reduce_by_key"), Problem(standard_operator("sum_f32"), SegmentForm::groups, 32)));
    const auto numbered = parse(R"(operator numbered(x: i32) -> i64 {
  state s: i64 = 0  lift i64(x)  combine(a, b) a + b  finish s + segment
})");
    EXPECT_TRUE(unmet(peer("thrust_omp"), Problem(numbered, SegmentForm::groups, 32)));
    EXPECT_FALSE(unmet(peer("thrust_omp"), Problem(numbered, SegmentForm::offsets, 32)));
}

TEST(Peer, TextsArePureAndTidy)
{
    for (const auto& op : {standard_operator("sum_f32"), standard_operator("mean_variance_f32"), demanding(),
                           scanned(standard_operator("sum_f32"), {}),
                           scanned(standard_operator("mean_variance_f32"), {.reverse = true}), streak()})
        for (const auto& candidate : peers())
            for (const auto form : kForms)
                for (const int bits : {32, 64}) {
                    const Problem problem(op, form, bits);
                    if (unmet(candidate, problem))
                        continue;
                    const auto text = emit_peer(problem, candidate).source;
                    EXPECT_EQ(text, emit_peer(problem, candidate).source);
                    EXPECT_TRUE(text.starts_with("// " + std::string(candidate.name) + ": ")) << text;
                    EXPECT_FALSE(
                        mentions(text, bits == 64 ? "using Index = int;" : "using Index = long long;"));
                    EXPECT_TRUE(text.ends_with("}\n"));
                    EXPECT_FALSE(mentions(text, "\n\n\n")) << text;
                    std::istringstream lines(text);
                    for (std::string line; std::getline(lines, line);) {
                        EXPECT_LE(line.size(), 110U) << line;
                        EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
                        EXPECT_FALSE(line.starts_with("#define")) << line;
                    }
                }
}

TEST(Peer, PlainSumsAreGivenToTheFastPaths)
{
    const auto text = text_of(standard_operator("sum_f32"), "cub_segmented", SegmentForm::offsets);
    EXPECT_TRUE(mentions(text, "const auto items = inputs.x;")) << text;
    EXPECT_TRUE(mentions(text, "const auto totals = results.result;"));
    EXPECT_TRUE(mentions(text, "const cuda::std::plus<State> combination;"));
    EXPECT_FALSE(mentions(text, "struct Lift"));
    EXPECT_FALSE(mentions(text, "struct Combine"));
    // C++ would add two i8 as int, and the sum of two f16 is not `+` at all.
    for (const auto* narrow : {"sum_i8", "sum_f16"})
        EXPECT_TRUE(mentions(text_of(standard_operator(narrow), "cub_reduce", SegmentForm::whole),
                             "const Combine combination;"))
            << narrow;
}

TEST(Peer, OperandsKeepTheirOrder)
{
    const auto text = text_of(standard_operator("affine_u32"), "cub_reduce_by_key", SegmentForm::uniform);
    EXPECT_TRUE(mentions(text, "return combine(earlier, later);")) << text;
    EXPECT_FALSE(mentions(text, "plus"));
}

TEST(Peer, PlacesComeFromKeysOrLengths)
{
    const auto by_key = emit_peer(Problem(demanding(), SegmentForm::offsets), peer("cub_reduce_by_key"));
    EXPECT_TRUE(by_key.needs_keys);
    EXPECT_TRUE(by_key.needs_run_segments);
    EXPECT_FALSE(by_key.is_compacted);
    EXPECT_TRUE(
        mentions(by_key.source, "const Index segment = keys[index], position = index - offsets[segment];"));
    EXPECT_TRUE(
        mentions(by_key.source, "store(results, segment, offsets[segment + 1] - offsets[segment], state);"));
    const auto segmented = emit_peer(Problem(demanding(), SegmentForm::uniform), peer("cub_segmented"));
    EXPECT_FALSE(segmented.needs_keys);
    EXPECT_FALSE(segmented.is_compacted);
    EXPECT_TRUE(mentions(segmented.source, "segment = index / length, position = index % length;"));
    const auto plain = emit_peer(Problem(standard_operator("mean_variance_f32"), SegmentForm::offsets),
                                 peer("thrust_reduce_by_key"));
    EXPECT_TRUE(plain.needs_keys);
    EXPECT_TRUE(plain.is_compacted);
    EXPECT_FALSE(plain.needs_run_segments);
    EXPECT_TRUE(mentions(plain.source, "store(results, Index(place), Index(1), state);"));
}

TEST(Peer, TheLongestLengthIsGiven)
{
    const std::string last = "combination, initial, size_t(call->segment_length),";
    for (const int bits : {32, 64}) {
        const auto sum = standard_operator("sum_f32");
        const auto text = text_of(sum, "cub_segmented_hint", SegmentForm::offsets, bits);
        EXPECT_TRUE(mentions(text, "return cub::detail::segmented_reduce::dispatch(call->scratch,")) << text;
        EXPECT_TRUE(mentions(text, "call->num_segments, offsets, offsets + 1, " + last)) << text;
        EXPECT_TRUE(mentions(text, "#include <cub/device/dispatch/dispatch_segmented_reduce.cuh>"));
        EXPECT_TRUE(mentions(text_of(sum, "cub_segmented_hint", SegmentForm::uniform, bits),
                             "call->num_segments, begins, begins + 1, " + last));
        EXPECT_TRUE(mentions(text_of(sum, "cub_segmented_hint", SegmentForm::ranges, bits),
                             "call->num_segments, begins, ends, " + last));
        EXPECT_FALSE(mentions(text_of(sum, "cub_segmented", SegmentForm::offsets, bits), "segment_length)"));
        EXPECT_TRUE(mentions(text_of(sum, "cub_fixed_size", SegmentForm::uniform, bits),
                             "call->num_segments, int(call->segment_length), combination, initial"));
    }
}

/// Sums are scanned from pointer to pointer by the library's own operation.
TEST(Peer, ScansOfPlainSumsAreGivenToTheFastPaths)
{
    const auto sum = standard_operator("sum_f32");
    const auto whole = text_of(scanned(sum, {}), "cub_scan", SegmentForm::whole);
    EXPECT_TRUE(mentions(whole, "const auto items = inputs.x;")) << whole;
    EXPECT_TRUE(mentions(whole, "const auto outputs = results.result;"));
    EXPECT_TRUE(mentions(whole, "const cuda::std::plus<State> combination;"));
    EXPECT_TRUE(mentions(whole,
                         "return cub::DeviceScan::InclusiveScan(call->scratch, call->scratch_bytes, "
                         "items, outputs,\n        combination, Index(call->num_elements), "
                         "call->stream);"));
    EXPECT_TRUE(mentions(whole, "#include <cub/device/device_scan.cuh>"));
    EXPECT_FALSE(mentions(whole, "struct Scan"));
    const auto emitted = emit_peer(Problem(scanned(sum, {.exclusive = true}), SegmentForm::offsets),
                                   peer("thrust_scan_by_key"));
    EXPECT_TRUE(mentions(emitted.source, "thrust::exclusive_scan_by_key(")) << emitted.source;
    EXPECT_TRUE(mentions(emitted.source, "outputs, initial, cuda::std::equal_to<int>(), combination"));
    EXPECT_TRUE(mentions(emitted.source, "fetch_identity"));
    EXPECT_TRUE(emitted.needs_keys);
    EXPECT_FALSE(emitted.is_compacted || emitted.needs_run_segments);
    EXPECT_EQ(emitted.num_unkept_results, 1U);  // Results begins with the running state's pointer
}

/// Later elements are visited first, and combine's operands keep the order of the data.
TEST(Peer, ScansInReverseSwapTheOperands)
{
    const auto text = text_of(scanned(standard_operator("affine_u32"), {.reverse = true}), "cub_scan_by_key",
                              SegmentForm::offsets);
    EXPECT_TRUE(mentions(text, "State operator()(const State& later, const State& earlier) const")) << text;
    EXPECT_TRUE(mentions(text, "const Index index = last - Index(step);"));
    EXPECT_TRUE(
        mentions(text, "const auto keys = thrust::make_reverse_iterator(call->keys + call->num_elements);"));
    EXPECT_FALSE(mentions(text, ", call->keys"));
}

TEST(Peer, AScanOfBothStatesIsExclusive)
{
    const auto text = text_of(streak(), "cub_scan_by_key", SegmentForm::offsets);
    EXPECT_TRUE(mentions(text, "cub::DeviceScan::ExclusiveScanByKey(")) << text;
    EXPECT_TRUE(mentions(
        text, "const State through = combine(before, load_item(inputs, index, position, segment));"));
    EXPECT_TRUE(mentions(text, "scan_item(inputs, items, 0, before, through, index, position, segment);"));
    const auto host = text_of(streak(), "thrust_omp_scan", SegmentForm::whole);
    EXPECT_TRUE(mentions(host, "thrust::exclusive_scan(thrust::omp::par,")) << host;
    EXPECT_TRUE(mentions(host, "scan_item(inputs, results, before, through, index, position, segment);"));
    EXPECT_TRUE(mentions(host, "const State initial = identity();"));
}

TEST(Peer, FoldsAndScansAreToldApart)
{
    const auto why = [](const Operator& op, const char* name, SegmentForm form = SegmentForm::whole) {
        return unmet(peer(name), Problem(op, form)).value_or("");
    };
    const auto sum = standard_operator("sum_f32");
    EXPECT_EQ(why(sum, "cub_scan"), "gives running results alone, and operator sum has no scan");
    EXPECT_EQ(why(scanned(sum, {}), "cub_reduce"),
              "gives results of segments alone, and the operator has a scan");
    EXPECT_EQ(why(scanned(sum, {}), "cub_scan", SegmentForm::offsets),
              "takes segments given as whole, not as offsets");
    EXPECT_EQ(
        why(streak(), "cub_scan_by_key", SegmentForm::keys),
        "knows neither places nor lengths of segments given as keys, and operator streak asks for them");
    const auto both = parse(R"(operator both(x: i32) -> (total: i32, each running: i32) {
  state sum: i32 = 0
  lift x
  combine(a, b) a + b
  finish { total = sum }
  scan(before, through) { running = through }
})");
    EXPECT_EQ(why(both, "thrust_scan"),
              "gives running results alone, and operator both gives results of segments too");
}

TEST(Peer, LengthsThatAPeerCannotCountAreRefused)
{
    constexpr std::int64_t kMost = 2147483647;
    EXPECT_EQ(too_long(peer("cub_fixed_size"), kMost), std::nullopt);
    EXPECT_EQ(too_long(peer("cub_fixed_size"), kMost + 1).value_or(""),
              "takes lengths up to 2147483647, and the longest segment has 2147483648 elements");
    EXPECT_EQ(too_long(peer("cub_segmented"), kMost + 1), std::nullopt);
}

TEST(Peer, ThoseThatMixTheOrderAreLeftOut)
{
    const auto why = [](const char* op, const char* name, SegmentForm form) {
        return unmet(peer(name), Problem(standard_operator(op), form)).value_or("");
    };
    EXPECT_EQ(why("affine_u32", "cub_segmented", SegmentForm::offsets),
              "cub::DeviceSegmentedReduce::Reduce does not keep the order of the elements, which operator "
              "affine may "
              "need, as it is not known to be commutative");
    EXPECT_EQ(why("affine_u32", "cub_reduce_by_key", SegmentForm::offsets), "");
    EXPECT_EQ(why("sum_f32", "cub_fixed_size", SegmentForm::offsets),
              "takes segments given as uniform, not as offsets");
    EXPECT_EQ(why("sum_f32", "thrust_reduce_by_key", SegmentForm::ranges),
              "takes segments given as whole, uniform, offsets, flags, keys, not as ranges");
    EXPECT_EQ(why("affine_u32", "cub_reduce_by_key", SegmentForm::keys), "");
    EXPECT_EQ(
        unmet(peer("thrust_reduce_by_key"), Problem(demanding(), SegmentForm::flags)).value_or(""),
        "knows neither places nor lengths of segments given as flags, and operator demanding asks for them");
    EXPECT_EQ(unmet(peer("cub_segmented"), Problem(demanding(), SegmentForm::ranges)).value_or(""),
              "does not tell an element its place in a segment, where ranges may overlap");
    Problem refuted(standard_operator("sum_f32"), SegmentForm::whole);
    refuted.laws.commutative = false;
    EXPECT_TRUE(unmet(peer("cub_reduce"), refuted));
    refuted.laws.associative = false;
    EXPECT_EQ(unmet(peer("thrust_reduce_by_key"), refuted).value_or(""),
              "needs an associative operator, and combine of operator sum is refuted");
    try {
        (void)text_of(standard_operator("affine_u32"), "cub_reduce", SegmentForm::whole);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_TRUE(
            std::string(error.what()).starts_with("cub_reduce: cub::DeviceReduce::Reduce does not keep"));
    }
}

}  // namespace
}  // namespace segfold::peer_test
