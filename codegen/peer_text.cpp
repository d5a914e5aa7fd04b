#include "codegen/peer.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/catalogue.h"
#include "codegen/emit.h"
#include "codegen/print/cuda_names.h"
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

/// Returns the column whose elements lift returns unchanged as states; null if there is none.
const Parameter* lifted_column(const Operator& op)
{
    if (op.state.size() != 1 || !op.has_identity() || !op.lift.lets.empty())
        return nullptr;
    const auto& value = op.lift.assignments[0].value;
    const auto found = std::ranges::find(op.parameters, value->name, &Parameter::name);
    const bool is_column = value->kind == ExpressionKind::name && found != op.parameters.end() &&
                           !found->table && found->type == op.state[0].type;
    return is_column ? &*found : nullptr;
}

/// True if the operator's result is the unchanged state.
bool stores_state(const Operator& op)
{
    return op.state.size() == 1 && op.has_identity() && !op.finish && !op.empty;
}

/// True if combine is `a + b` for numbers of at least 32 bits, which C++ does not widen.
bool is_plus(const Operator& op)
{
    if (op.state.size() != 1 || !op.has_identity() || !op.combine.lets.empty())
        return false;
    const auto& sum = op.combine.assignments[0].value;
    const auto type = op.state[0].type;
    const auto is_field = [&](const Expression& e, Operand operand) {
        return e->kind == ExpressionKind::field && e->operand == operand;
    };
    return sum->kind == ExpressionKind::binary && sum->symbol == "+" &&
           is_field(sum.argument(0), Operand::earlier) && is_field(sum.argument(1), Operand::later) &&
           size_bytes(type) >= 4;
}

/// Writes the text of one peer.
class PeerText {
public:
    PeerText(const Problem& problem, const Peer& peer)
        : problem_(problem),
          op_(problem.op),
          peer_(peer),
          lift_needs_place_(uses_name(op_.lift, "position") || uses_name(op_.lift, "segment")),
          finish_uses_segment_((op_.finish && uses_name(*op_.finish, "segment")) ||
                               (op_.empty && uses_name(*op_.empty, "segment"))),
          finish_uses_length_(op_.finish && uses_name(*op_.finish, "length"))
    {}

    [[nodiscard]] EmittedPeer emit()
    {
        EmittedPeer emitted;
        const bool is_cut = problem_.form == offsets || problem_.form == ranges;
        emitted.needs_keys = peer_.is_by_key || (lift_needs_place_ && problem_.form == offsets);
        emitted.is_compacted = peer_.is_by_key && !finish_uses_segment_;
        emitted.needs_run_segments =
            peer_.is_by_key && is_cut && (finish_uses_segment_ || finish_uses_length_);

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

    [[nodiscard]] bool is_thrust() const { return peer_.library == "thrust"; }
    [[nodiscard]] bool starts_from_identity() const { return !peer_.is_by_key; }

    [[nodiscard]] std::string heading() const
    {
        const auto segments = problem_.form == whole ? std::string("One segment")
                              : problem_.form == uniform
                                  ? "Segments of one length"
                                  : fmt::format("Segments given as {}", name(problem_.form));
        return fmt::format(
            "// {}: {}\n// {}, {}-bit indices.\n//\n{}//\n"
            "// Written by segfold to be measured beside its own stages.\n// {}\n\n",
            peer_.name, peer_.call, segments, problem_.index_bits, operator_comment(problem_.written),
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
                            "thrust/functional.h", "thrust/reduce.h"});
            if (peer_.is_of_host())
                headers.emplace_back("thrust/iterator/discard_iterator.h");
            if (problem_.form == groups)
                headers.insert(headers.end(), {"thrust/iterator/permutation_iterator.h", "thrust/sequence.h",
                                               "thrust/sort.h"});
        } else {
            headers.emplace_back(peer_.name == "cub_reduce" || peer_.is_by_key
                                     ? "cub/device/device_reduce.cuh"
                                     : kSegmentedHeader);
            if (peer_.name == "cub_segmented_hint")
                headers.emplace_back(peer_.header);
        }
        std::ranges::sort(headers);
        std::string text;
        for (const auto& header : headers)
            text += fmt::format("#include <{}>\n", header);
        if (problem_.form == groups)
            text += "#include <algorithm>\n";
        text += is_thrust() ? "#include <cstddef>\n#include <new>\n" : "";
        return text + (problem_.form == groups ? "#include <vector>\n" : "");
    }

    /// Returns the functor Lift, which loads and lifts the element at an index. If lift uses the element's
    /// position or segment, Lift computes these too.
    [[nodiscard]] std::string lift() const
    {
        std::vector<std::string> members, place;
        std::string arguments = "Index(), Index()";
        if (lift_needs_place_) {
            arguments = "position, segment";
            if (problem_.form == whole) {
                place = {"const Index segment = 0, position = index;"};
            } else if (problem_.form == uniform) {
                members = {"Index length;"};
                place = {"const Index segment = index / length, position = index % length;"};
            } else {
                members = {"const int* keys;", "const Index* offsets;"};
                place = {"const Index segment = keys[index], position = index - offsets[segment];"};
            }
        }
        return peer_piece("Lift", {{{"arguments", arguments}},
                                   {{"member", lines_for("member", members)},
                                    {"place", lines_for("place", place)}}}) +
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
        if (!lifted_column(op_))
            text += lift();
        if (!is_plus(op_))
            text += peer_piece("Combine") + "\n";
        if (!stores_state(op_))
            text += finish();
        if (peer_.name != "cub_reduce" && !peer_.is_by_key)
            text += offset_functors();
        if (starts_from_identity())
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
        if (const auto* column = lifted_column(op_))
            return "inputs." + cuda_identifier(column->name);
        std::string arguments = "inputs";
        if (lift_needs_place_ && problem_.form == uniform)
            arguments += ", Index(call->segment_length)";
        if (lift_needs_place_ && problem_.form == offsets)
            arguments += ", call->keys, offsets";
        return "thrust::make_transform_iterator(thrust::make_counting_iterator(Index(0)), Lift{" + arguments +
               "})";
    }

    [[nodiscard]] std::string totals() const
    {
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
        return is_cut && (!peer_.is_by_key || finish_uses_length_ || lift_needs_place_);
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

    [[nodiscard]] std::string bound_lines() const
    {
        if (peer_.is_by_key || peer_.name == "cub_reduce" || peer_.name == "cub_fixed_size")
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
        if (peer_.is_of_host())
            return peer_piece(problem_.form == groups ? "function of groups" : "function of the host",
                              {{{"function", std::string(kPeerFunction)},
                                {"items", items()},
                                {"totals", totals()},
                                {"combination", combination()},
                                {"call", std::string(peer_.call)},
                                {"system", std::string(peer_.system)}},
                               {{"offsets", present(uses_offsets())}}});
        return peer_piece("function", {{{"function", std::string(kPeerFunction)},
                                        {"items", items()},
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

    [[nodiscard]] std::string invocation() const
    {
        Holes holes{{{"call", std::string(peer_.call)}}};
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
        if (peer_.name == "cub_reduce_by_key")
            return peer_piece("call of " + std::string(peer_.name), holes);
        return peer_piece("call of thrust", holes);
    }

    const Problem& problem_;
    const Operator& op_;
    const Peer& peer_;
    bool lift_needs_place_;
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
