#include "codegen/peers/peer.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/catalogue.h"
#include "codegen/emit.h"
#include "codegen/peers/plain_operator.h"
#include "codegen/print/cuda_names.h"
#include "codegen/section/scan_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/comment.h"
#include "codegen/weave/line_break.h"
#include "codegen/weave/mention.h"
#include "dsl/error.h"

namespace segfold {
namespace {

using enum SegmentForm;

/// Returns a piece of kernels/vocabulary/peer.cuh. The piece PeerCall declares the same struct as
/// runtime/measure/bench/peers/peer_library.h, whose code calls the peer.
std::string peer_piece(std::string_view piece, const Holes& holes = {})
{
    return vocabulary("peer.cuh", piece, holes);
}

/// Returns one list item for each line; the line is the item's value for `hole`.
std::vector<Holes> lines_for(const std::string& hole, const std::vector<std::string>& lines)
{
    std::vector<Holes> items;
    for (const auto& line : lines)
        items.push_back({{{hole, line}}});
    return items;
}

/// Returns a list of one empty item if `is_there` is true, else an empty list. Lines below `//% each` of this
/// list then appear once or not at all.
std::vector<Holes> present(bool is_there) { return std::vector<Holes>(is_there ? 1 : 0); }

/// The values by which a functor knows the place of an element: its members, the lines that compute the
/// place, and the arguments that set the members.
struct PlaceText {
    std::vector<std::string> members, lines;
    std::string arguments;
};

/// Writes the text of one peer.
class PeerText {
public:
    PeerText(const Problem& problem, const Peer& peer)
        : problem_(problem),
          op_(problem.op),
          peer_(peer),
          lift_needs_place_(uses_place(op_.lift)),
          reads_before_(reads_before(op_)),
          reads_both_(reads_before_ && scanned_states(op_).arguments.size() == 2),
          is_reverse_(op_.scan && op_.scan->reverse),
          scan_needs_place_(op_.scan && (uses_place(op_.scan->block) || (reads_both_ && lift_needs_place_))),
          finish_uses_segment_((op_.finish && uses_name(*op_.finish, "segment")) ||
                               (op_.empty && uses_name(*op_.empty, "segment"))),
          finish_uses_length_(op_.finish && uses_name(*op_.finish, "length"))
    {}

    [[nodiscard]] EmittedPeer emit()
    {
        EmittedPeer emitted;
        const bool is_cut = problem_.form == offsets || problem_.form == ranges;
        emitted.needs_keys = peer_.is_by_key || (lift_needs_place_ && problem_.form == offsets);
        if (peer_.scans) {
            emitted.num_unkept_results = op_.results.size();
        } else {
            emitted.is_compacted = peer_.is_by_key && !finish_uses_segment_;
            emitted.needs_run_segments =
                peer_.is_by_key && is_cut && (finish_uses_segment_ || finish_uses_length_);
        }

        const auto body = functors() + break_lines(function());
        const auto kept =
            keep_mentioned(operator_section(
                               problem_, {}, [&](std::string_view path) { return part_text(path, problem_); },
                               peer_.is_of_host() ? Dialect::native : Dialect::cuda),
                           words_of(body));
        emitted.source = heading() + includes() + "\nnamespace {\n\n" + kept + "\n" +
                         peer_piece(peer_.is_of_host() ? "PeerCall of the host" : "PeerCall") + "\n" + body;
        return emitted;
    }

private:
    static constexpr std::string_view kCudaFunction = "__device__ __forceinline__ ";

    static bool uses_place(const Block& block)
    {
        return uses_name(block, "position") || uses_name(block, "segment");
    }

    [[nodiscard]] bool is_thrust() const { return peer_.library == "thrust"; }
    [[nodiscard]] bool starts_from_identity() const { return peer_.scans ? reads_before_ : !peer_.is_by_key; }

    /// Returns the library's function: that of peer_, but the exclusive one if the scan reads states before
    /// elements.
    [[nodiscard]] std::string call() const
    {
        std::string call(peer_.call);
        for (const auto& [inclusive, exclusive] :
             {std::pair("inclusive", "exclusive"), std::pair("Inclusive", "Exclusive")})
            if (const auto at = call.find(inclusive); reads_before_ && at != call.npos)
                call.replace(at, std::string_view(inclusive).size(), exclusive);
        return call;
    }

    [[nodiscard]] std::string written() const { return peer_.scans ? "outputs" : "totals"; }

    [[nodiscard]] bool lifts_column() const { return !is_reverse_ && lifted_column(op_) != nullptr; }

    /// True if the library writes the results or outputs itself.
    [[nodiscard]] bool writes_plainly() const
    {
        return peer_.scans ? !is_reverse_ && !reads_both_ && scans_state(op_) : stores_state(op_);
    }

    [[nodiscard]] std::string heading() const
    {
        const auto segments = problem_.form == whole ? std::string("One segment")
                              : problem_.form == uniform
                                  ? "Segments of one length"
                                  : fmt::format("Segments given as {}", name(problem_.form));
        return fmt::format(
            "// {}: {}\n// {}, {}-bit indices.\n//\n{}//\n"
            "// Written by segfold to be measured beside its own stages.\n// {}\n\n",
            peer_.name, call(), segments, problem_.index_bits, operator_comment(problem_.written),
            peer_.is_of_host() ? "g++ -shared -fPIC -O3 -std=c++20 -march=native" +
                                     std::string(peer_.system == "omp" ? " -fopenmp" : " -ltbb")
                               : "nvcc -shared -Xcompiler -fPIC -O3 -std=c++17 -arch=native");
    }

    [[nodiscard]] std::string includes() const
    {
        std::vector<std::string> headers = {"thrust/iterator/counting_iterator.h",
                                            std::string(kTabulateHeader),
                                            "thrust/iterator/transform_iterator.h", "cuda/std/functional"};
        if (is_thrust()) {
            headers.insert(headers.end(),
                           {peer_.is_of_host() ? std::string(peer_.header) : "thrust/execution_policy.h",
                            "thrust/functional.h", peer_.scans ? "thrust/scan.h" : "thrust/reduce.h"});
            if (peer_.is_of_host() && !peer_.scans)
                headers.emplace_back("thrust/iterator/discard_iterator.h");
            if (problem_.form == groups)
                headers.insert(headers.end(), {"thrust/iterator/permutation_iterator.h", "thrust/sequence.h",
                                               "thrust/sort.h"});
        } else {
            headers.emplace_back(peer_.scans ? "cub/device/device_scan.cuh"
                                 : peer_.name == "cub_reduce" || peer_.is_by_key
                                     ? "cub/device/device_reduce.cuh"
                                     : kSegmentedHeader);
            if (peer_.name == "cub_segmented_hint")
                headers.emplace_back(peer_.header);
        }
        if (is_reverse_ && peer_.is_by_key)
            headers.emplace_back("thrust/iterator/reverse_iterator.h");
        std::ranges::sort(headers);
        std::string text;
        for (const auto& header : headers)
            text += fmt::format("#include <{}>\n", header);
        if (problem_.form == groups)
            text += "#include <algorithm>\n";
        text += is_thrust() ? "#include <cstddef>\n#include <new>\n" : "";
        return text + (problem_.form == groups ? "#include <vector>\n" : "");
    }

    /// Returns the text that finds the place of an element from its index. In a reverse scan, the index is
    /// found from the step of the scan. If `needs_place`, the element's position and segment are found too.
    [[nodiscard]] PlaceText place(bool needs_place) const
    {
        PlaceText text;
        if (is_reverse_) {
            text.members = {"Index last;"};
            text.lines = {"const Index index = last - Index(step);"};
            text.arguments = ", Index(call->num_elements - 1)";
        }
        if (!needs_place)
            return text;
        if (problem_.form == whole) {
            text.lines.emplace_back("const Index segment = 0, position = index;");
        } else if (problem_.form == uniform) {
            text.members.emplace_back("Index length;");
            text.lines.emplace_back("const Index segment = index / length, position = index % length;");
            text.arguments += ", Index(call->segment_length)";
        } else {
            text.members.insert(text.members.end(), {"const int* keys;", "const Index* offsets;"});
            text.lines.emplace_back(
                "const Index segment = keys[index], position = index - offsets[segment];");
            text.arguments += ", call->keys, offsets";
        }
        return text;
    }

    /// Returns the functor Lift, which loads and lifts the element at an index. If lift uses the element's
    /// position or segment, Lift computes these too.
    [[nodiscard]] std::string lift() const
    {
        const auto own = place(lift_needs_place_);
        return peer_piece("Lift",
                          {{{"arguments", lift_needs_place_ ? "position, segment" : "Index(), Index()"},
                            {"visited", is_reverse_ ? "step" : "index"}},
                           {{"member", lines_for("member", own.members)},
                            {"place", lines_for("place", own.lines)}}}) +
               "\n";
    }

    /// Returns the functor Scan, which writes the outputs of an element from the state that the library
    /// computes. If `scan` reads both states, the library computes the one before the element.
    [[nodiscard]] std::string scan() const
    {
        auto own = place(scan_needs_place_);
        if (!is_reverse_)
            own.lines.insert(own.lines.begin(), "const Index index = Index(step);");
        const std::string places = scan_needs_place_ ? "position, segment" : "Index(), Index()";
        const std::string state = reads_before_ ? "before" : "through";
        std::vector<std::string> lines;
        if (reads_both_) {
            const auto item = fmt::format("load_item(inputs, index, {})", places);
            lines.push_back(fmt::format("const State through = combine({});",
                                        is_reverse_ ? item + ", before" : "before, " + item));
        }
        const auto states = fmt::format("{}, {}", state, reads_both_ ? "through" : state);
        if (peer_.is_of_host()) {
            lines.push_back(fmt::format("scan_item(inputs, results, {}, index, {});", states, places));
        } else {
            lines.emplace_back("const ScanItems items = load_scan_items(inputs, index, 1);");
            lines.push_back(fmt::format("const Scanned scanned = scan_item(inputs, items, 0, {}, index, {});",
                                        states, places));
            for (const auto& output : op_.outputs)
                lines.push_back(
                    fmt::format("results.{0}[index] = scanned.{0};", cuda_identifier(output.name)));
        }
        return peer_piece("Scan", {{{"visited", "step"}, {"state", state}},
                                   {{"member", lines_for("member", own.members)},
                                    {"place", lines_for("place", own.lines)},
                                    {"line", lines_for("line", lines)}}}) +
               "\n";
    }

    /// Returns the functor Finish, which turns a total into results. Finish computes the segment's number and
    /// length from the total's index in the output.
    [[nodiscard]] std::string finish() const
    {
        std::vector<std::string> members, place;
        std::string segment = "Index(place)", length = "Index(1)";
        const bool maps_runs = peer_.is_by_key && (problem_.form == offsets || problem_.form == ranges) &&
                               (finish_uses_segment_ || finish_uses_length_);
        if (maps_runs) {
            members.emplace_back("const int* segment_of_run;");
            place.emplace_back(
                "const Index segment = segment_of_run ? segment_of_run[place] : Index(place);");
            if (finish_uses_segment_)
                segment = "segment";
        }
        // Peers by key never see an empty segment, so their `empty` needs no length.
        if (finish_uses_length_ || (op_.empty && !peer_.is_by_key)) {
            const std::string at = maps_runs ? "segment" : "place";
            if (problem_.form == offsets || problem_.form == ranges) {
                members.emplace_back("const Index* offsets;");
                length = fmt::format("offsets[{0} + 1] - offsets[{0}]", at);
            } else {
                members.emplace_back("Index length;");
                length = "length";
            }
        }
        return peer_piece("Finish", {{{"segment", segment}, {"length", length}},
                                     {{"member", lines_for("member", members)},
                                      {"place", lines_for("place", place)}}}) +
               "\n";
    }

    [[nodiscard]] std::string functors() const
    {
        std::string text;
        if (!lifts_column())
            text += lift();
        if (!is_plus(op_))
            text += peer_piece("Combine", {{{"first", is_reverse_ ? "later" : "earlier"},
                                            {"second", is_reverse_ ? "earlier" : "later"}},
                                           {}}) +
                    "\n";
        if (!writes_plainly())
            text += peer_.scans ? scan() : finish();
        if (peer_.name != "cub_reduce" && !peer_.is_by_key && !peer_.scans)
            text += offset_functors();
        if (starts_from_identity() && !peer_.is_of_host())
            text += peer_piece("identity") + "\n";
        if (is_thrust() && !peer_.is_of_host())
            text += peer_piece("Arena") + "\n";
        if (peer_.is_of_host())  // drops CUDA's specifiers; members are inline without them
            for (auto at = text.find(kCudaFunction); at != text.npos; at = text.find(kCudaFunction))
                text.erase(at, kCudaFunction.size());
        return text + "}  // namespace\n\n";
    }

    [[nodiscard]] std::string offset_functors() const
    {
        if ((problem_.form == uniform && peer_.name != "cub_fixed_size") || problem_.form == whole)
            return peer_piece("Offset") + "\n";
        if (problem_.form == ranges)
            return peer_piece("End") + "\n";
        return "";
    }

    /// Returns the expression for the iterator over lifted elements: a column's pointer, or an iterator that
    /// applies Lift.
    [[nodiscard]] std::string items() const
    {
        if (lifts_column())
            return "inputs." + cuda_identifier(lifted_column(op_)->name);
        return "thrust::make_transform_iterator(thrust::make_counting_iterator(Index(0)), Lift{inputs" +
               place(lift_needs_place_).arguments + "})";
    }

    [[nodiscard]] std::string totals() const
    {
        if (peer_.scans)
            return writes_plainly() ? "results." + cuda_identifier(op_.outputs[0].name)
                                    : "thrust::make_tabulate_output_iterator(Scan{inputs, results" +
                                          place(scan_needs_place_).arguments + "})";
        if (stores_state(op_))
            return "results." + cuda_identifier(op_.results[0].name);
        std::string arguments = "results";
        const bool is_cut = problem_.form == offsets || problem_.form == ranges;
        if (peer_.is_by_key && is_cut && (finish_uses_segment_ || finish_uses_length_))
            arguments += ", call->segment_of_run";
        if (finish_uses_length_ || (op_.empty && !peer_.is_by_key))
            arguments += is_cut                     ? ", offsets"
                         : problem_.form == uniform ? ", Index(call->segment_length)"
                                                    : ", Index(call->num_elements)";
        return "thrust::make_tabulate_output_iterator(Finish{" + arguments + "})";
    }

    [[nodiscard]] bool uses_offsets() const
    {
        const bool is_cut = problem_.form == offsets || problem_.form == ranges;
        return is_cut && (!peer_.is_by_key || finish_uses_length_ || lift_needs_place_ || scan_needs_place_);
    }

    /// Returns the arguments of CUB's segmented functions for the begins and ends of the segments.
    [[nodiscard]] std::string bounds() const
    {
        if (problem_.form == offsets)
            return "offsets, offsets + 1";
        if (problem_.form == ranges)
            return "begins, ends";
        return "begins, begins + 1";
    }

    /// Returns the lines that define the begins and ends of the segments, or the keys of a reverse scan.
    [[nodiscard]] std::string bound_lines() const
    {
        if (is_reverse_ && peer_.is_by_key)
            return "    const auto keys = thrust::make_reverse_iterator(call->keys + call->num_elements);\n";
        if (peer_.scans || peer_.is_by_key || peer_.name == "cub_reduce" || peer_.name == "cub_fixed_size")
            return "";
        if (problem_.form == uniform || problem_.form == whole)
            return peer_piece(
                "begins of lengths",
                {{{"length", problem_.form == whole ? "call->num_elements" : "call->segment_length"}}});
        if (problem_.form == ranges)
            return peer_piece("begins of ranges");
        return "";
    }

    [[nodiscard]] std::string function() const
    {
        const auto block = [](const std::string& hole, std::string text) {
            if (text.empty())
                return std::vector<Holes>();
            text.pop_back();  // removes the newline
            return lines_for(hole, {text});
        };
        if (problem_.form == groups)
            return peer_piece("function of groups", {{{"function", std::string(kPeerFunction)},
                                                      {"items", items()},
                                                      {"totals", totals()},
                                                      {"combination", combination()},
                                                      {"call", call()},
                                                      {"system", std::string(peer_.system)}},
                                                     {{"offsets", present(uses_offsets())}}});
        if (peer_.is_of_host())
            return peer_piece("function of the host", {{{"function", std::string(kPeerFunction)},
                                                        {"items", items()},
                                                        {"written", written()},
                                                        {"totals", totals()},
                                                        {"combination", combination()},
                                                        {"call", call()},
                                                        {"arguments", thrust_arguments()},
                                                        {"system", std::string(peer_.system)}},
                                                       {{"offsets", present(uses_offsets())},
                                                        {"line", block("line", bound_lines())},
                                                        {"identity", present(starts_from_identity())}}});
        return peer_piece("function", {{{"function", std::string(kPeerFunction)},
                                        {"items", items()},
                                        {"written", written()},
                                        {"totals", totals()},
                                        {"combination", combination()}},
                                       {{"offsets", present(uses_offsets())},
                                        {"line", block("line", bound_lines())},
                                        {"identity", present(starts_from_identity())},
                                        {"call", block("call", invocation())}}});
    }

    [[nodiscard]] std::string combination() const
    {
        return is_plus(op_) ? "cuda::std::plus<State>" : "Combine";
    }

    /// Returns the arguments of a function of Thrust behind the execution policy.
    [[nodiscard]] std::string thrust_arguments() const
    {
        const std::string initial = starts_from_identity() ? "initial, " : "";
        if (!peer_.is_by_key)
            return "items, items + call->num_elements, outputs, " + initial + "combination";
        const auto keys =
            fmt::format("{0}, {0} + call->num_elements, items, ", is_reverse_ ? "keys" : "call->keys");
        const std::string compared = "cuda::std::equal_to<int>(), combination";
        if (peer_.scans)
            return keys + "outputs, " + initial + compared;
        return keys + (peer_.is_of_host() ? "thrust::make_discard_iterator()" : "call->unique_keys") +
               ", totals, " + compared;
    }

    [[nodiscard]] std::string cub_arguments_by_key() const
    {
        if (!peer_.scans)
            return "call->keys, call->unique_keys, items, totals, call->num_runs, combination, "
                   "Index(call->num_elements)";
        return fmt::format(
            "{}, items, outputs, combination, {}Index(call->num_elements), "
            "cuda::std::equal_to<int>()",
            is_reverse_ ? "keys" : "call->keys", starts_from_identity() ? "initial, " : "");
    }

    [[nodiscard]] std::string invocation() const
    {
        Holes holes{{{"call", call()}, {"written", written()}}};
        const auto cub = [&](const std::string& arguments) {
            holes.values["arguments"] = arguments;
            return peer_piece("call of cub", holes);
        };
        if (peer_.name == "cub_segmented")
            return cub("call->num_segments, " + bounds() + ", combination, initial");
        // CUB has no public function with a parameter for the length of the longest segment.
        if (peer_.name == "cub_segmented_hint")
            return cub("call->num_segments, " + bounds() +
                       ", combination, initial, size_t(call->segment_length)");
        if (peer_.name == "cub_fixed_size")
            return cub("call->num_segments, int(call->segment_length), combination, initial");
        if (peer_.name == "cub_reduce")
            return cub("Index(call->num_elements), combination, initial");
        if (peer_.name == "cub_scan")
            return cub(fmt::format("combination, {}Index(call->num_elements)",
                                   starts_from_identity() ? "initial, " : ""));
        holes.values["arguments"] = is_thrust() ? thrust_arguments() : cub_arguments_by_key();
        return peer_piece(is_thrust() ? "call of thrust" : "call of cub by key", holes);
    }

    const Problem& problem_;
    const Operator& op_;
    const Peer& peer_;
    bool lift_needs_place_;
    bool reads_before_;
    bool reads_both_;  ///< true if the scan reads the states before an element and with it
    bool is_reverse_;
    bool scan_needs_place_;
    bool finish_uses_segment_;
    bool finish_uses_length_;
};

}  // namespace

EmittedPeer emit_peer(const Problem& problem, const Peer& peer)
{
    if (const auto why = unmet(peer, problem))
        throw InputError(fmt::format("{}: {}", peer.name, *why));
    Problem unchecked = problem;
    unchecked.checked_tables.clear();
    auto emitted = PeerText(unchecked, peer).emit();
    check_emitted(emitted.source, problem.written);
    return emitted;
}

}  // namespace segfold
