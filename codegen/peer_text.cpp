#include "codegen/peer.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/catalogue.h"
#include "codegen/comment.h"
#include "codegen/cuda_names.h"
#include "codegen/emit.h"
#include "codegen/line_break.h"
#include "codegen/mention.h"
#include "dsl/error.h"

namespace segfold {
namespace {

using enum SegmentForm;

// What the program passes; runtime/bench/peer_library.h has the same struct.
constexpr const char* kPeerCall =
    R"(// All pointers are to the GPU's memory but `inputs` and `results`, which point to those structs on the host.
struct PeerCall {
    const void* inputs;
    const void* results;
    const void* begins;         // [num_segments], segments given as ranges
    const void* offsets;        // [num_segments + 1], segments given as offsets or ranges
    const int* keys;            // [num_elements], the segment of each element
    int* unique_keys;           // [number of runs]
    int* num_runs;              // one
    const int* segment_of_run;  // [number of runs], the segments with an element; null: all
    long long num_elements, num_segments, segment_length;
    void* scratch;  // null: only say how many bytes are needed
    size_t scratch_bytes;
    cudaStream_t stream;
};
)";

constexpr const char* kArena =
    R"(// Gives out parts of the caller's scratch memory; without it counts what is asked for.
struct Arena {
    using value_type = char;
    char* memory;
    size_t bytes, used;

    char* allocate(std::ptrdiff_t count)
    {
        const size_t begin = used;
        used += (size_t(count) + 255) / 256 * 256;
        if (memory && used <= bytes)
            return memory + begin;
        void* own = nullptr;
        if (cudaMalloc(&own, count) != cudaSuccess)
            throw std::bad_alloc();
        return static_cast<char*>(own);
    }

    void deallocate(char* place, size_t)
    {
        if (!memory || place < memory || place >= memory + bytes)
            cudaFree(place);
    }
};
)";

/// The column that an element's state is, where lift changes nothing.
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

/// True where the result is the state.
bool stores_state(const Operator& op)
{
    return op.state.size() == 1 && op.has_identity() && !op.finish && !op.empty;
}

/// True for `a + b` of a type whose sums C++ does not widen.
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
        const auto kept = keep_mentioned(
            operator_section(problem_, {}, [&](std::string_view path) { return part_text(path, problem_); }),
            words_of(body));
        emitted.source = heading() + includes() + "\nnamespace {\n\n" + kept + "\n" + kPeerCall + "\n" + body;
        return emitted;
    }

private:
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
            "// Written by segfold to be measured beside its own stages.\n"
            "// nvcc -shared -Xcompiler -fPIC -O3 -std=c++17 -arch=native\n\n",
            peer_.name, peer_.call, segments, problem_.index_bits, operator_comment(op_));
    }

    [[nodiscard]] std::string includes() const
    {
        std::vector<std::string> headers = {"thrust/iterator/counting_iterator.h",
                                            std::string(kTabulateHeader),
                                            "thrust/iterator/transform_iterator.h", "cuda/std/functional"};
        if (is_thrust()) {
            headers.insert(headers.end(),
                           {"thrust/execution_policy.h", "thrust/functional.h", "thrust/reduce.h"});
        } else {
            headers.emplace_back(peer_.name == "cub_reduce" || peer_.is_by_key
                                     ? "cub/device/device_reduce.cuh"
                                     : kSegmentedHeader);
        }
        if (peer_.name == "cub_segmented_hint")
            headers.insert(headers.end(), {"cuda/__execution/guarantee.h", std::string(peer_.header),
                                           "cuda/std/__execution/env.h", "cuda/stream_ref"});
        std::ranges::sort(headers);
        std::string text;
        for (const auto& header : headers)
            text += fmt::format("#include <{}>\n", header);
        return text + (is_thrust() ? "#include <cstddef>\n#include <new>\n" : "");
    }

    /// Where an element is, for load_item.
    [[nodiscard]] std::string lift() const
    {
        std::string members = "    Inputs inputs;\n", place, arguments = "Index(), Index()";
        if (lift_needs_place_) {
            arguments = "position, segment";
            if (problem_.form == whole) {
                place = "        const Index segment = 0, position = index;\n";
            } else if (problem_.form == uniform) {
                members += "    Index length;\n";
                place = "        const Index segment = index / length, position = index % length;\n";
            } else {
                members += "    const int* keys;\n    const Index* offsets;\n";
                place = "        const Index segment = keys[index], position = index - offsets[segment];\n";
            }
        }
        return "struct Lift {\n" + members +
               "    __device__ __forceinline__ State operator()(Index index) const\n    {\n" + place +
               "        return load_item(inputs, index, " + arguments + ");\n    }\n};\n\n";
    }

    /// The place of a total in the output, turned into a segment and its length.
    [[nodiscard]] std::string finish() const
    {
        std::string members = "    Results results;\n", place;
        std::string segment = "Index(place)", length = "Index(1)";
        const bool maps_runs = peer_.is_by_key && (problem_.form == offsets || problem_.form == ranges) &&
                               (finish_uses_segment_ || finish_uses_length_);
        if (maps_runs) {
            members += "    const int* segment_of_run;\n";
            place += "        const Index segment = segment_of_run ? segment_of_run[place] : Index(place);\n";
            if (finish_uses_segment_)
                segment = "segment";
        }
        // Peers by key meet no empty segment, so that `empty` needs no length.
        if (finish_uses_length_ || (op_.empty && !peer_.is_by_key)) {
            const std::string at = maps_runs ? "segment" : "place";
            if (problem_.form == offsets || problem_.form == ranges) {
                members += "    const Index* offsets;\n";
                length = fmt::format("offsets[{0} + 1] - offsets[{0}]", at);
            } else {
                members += "    Index length;\n";
                length = "length";
            }
        }
        return "struct Finish {\n" + members +
               "    __device__ __forceinline__ void operator()(std::ptrdiff_t place, State state) const\n    "
               "{\n" +
               place +
               fmt::format("        store(results, {}, {}, state);\n    }}\n}};\n\n", segment, length);
    }

    [[nodiscard]] std::string functors() const
    {
        std::string text;
        if (!lifted_column(op_))
            text += lift();
        if (!is_plus(op_))
            text +=
                "struct Combine {\n"
                "    __device__ __forceinline__ State operator()(const State& earlier, const State& later) "
                "const\n"
                "    {\n        return combine(earlier, later);\n    }\n};\n\n";
        if (!stores_state(op_))
            text += finish();
        if (peer_.name != "cub_reduce" && !peer_.is_by_key)
            text += offset_functors();
        if (starts_from_identity())
            text +=
                "__global__ void write_identity(State* state) { *state = identity(); }\n\n"
                "State initial;  // the identity, which is known to the GPU alone until somebody asks\n\n"
                "cudaError_t fetch_identity()\n{\n    State* state = nullptr;\n"
                "    cudaError_t error = cudaMalloc(&state, sizeof(State));\n"
                "    if (error != cudaSuccess)\n        return error;\n"
                "    write_identity<<<1, 1>>>(state);\n"
                "    error = cudaMemcpy(&initial, state, sizeof(State), cudaMemcpyDeviceToHost);\n"
                "    cudaFree(state);\n    return error;\n}\n\n";
        if (is_thrust())
            text += std::string(kArena) + "\n";
        return text + "}  // namespace\n\n";
    }

    [[nodiscard]] std::string offset_functors() const
    {
        if ((problem_.form == uniform && peer_.name != "cub_fixed_size") || problem_.form == whole)
            return "struct Offset {\n    Index length;\n"
                   "    __device__ __forceinline__ Index operator()(Index segment) const { return segment * "
                   "length; "
                   "}\n};\n\n";
        if (problem_.form == ranges)
            return "struct End {\n    const Index* begins;\n    const Index* offsets;\n"
                   "    __device__ __forceinline__ Index operator()(Index segment) const\n    {\n"
                   "        return begins[segment] + (offsets[segment + 1] - offsets[segment]);\n    "
                   "}\n};\n\n";
        return "";
    }

    /// The arguments of Lift and Finish, in the order of their members.
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

    /// Begins and ends of the segments, as CUB's segmented functions take them.
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
        const std::string count = "thrust::make_counting_iterator(Index(0))";
        if (peer_.is_by_key || peer_.name == "cub_reduce" || peer_.name == "cub_fixed_size")
            return "";
        if (problem_.form == uniform || problem_.form == whole)
            return "    const auto begins = thrust::make_transform_iterator(" + count +
                   ",\n                                                        "
                   "Offset{Index(" +
                   std::string(problem_.form == whole ? "call->num_elements" : "call->segment_length") +
                   ")});\n";
        if (problem_.form == ranges)
            return "    const auto* begins = static_cast<const Index*>(call->begins);\n"
                   "    const auto ends = thrust::make_transform_iterator(" +
                   count + ", End{begins, offsets});\n";
        return "";
    }

    [[nodiscard]] std::string function() const
    {
        std::string text = fmt::format(
            "// Queues the fold on the caller's stream, or says how much scratch memory it needs.\n"
            "extern \"C\" __attribute__((visibility(\"default\"))) int {}(PeerCall* call)\n{{\n"
            "    const Inputs inputs = *static_cast<const Inputs*>(call->inputs);\n"
            "    const Results results = *static_cast<const Results*>(call->results);\n",
            kPeerFunction);
        if (uses_offsets())
            text += "    const auto* offsets = static_cast<const Index*>(call->offsets);\n";
        text += bound_lines() + "    const auto items = " + items() +
                ";\n    const auto totals = " + totals() + ";\n    const " + combination() +
                " combination;\n";
        if (starts_from_identity())
            text +=
                "    if (!call->scratch)\n"
                "        if (const cudaError_t error = fetch_identity(); error != cudaSuccess)\n"
                "            return error;\n";
        return text + invocation() +
               "}\n\nextern \"C\" __attribute__((visibility(\"default\"))) const char* "
               "segfold_peer_error(int error)\n"
               "{\n    return cudaGetErrorString(cudaError_t(error));\n}\n";
    }

    [[nodiscard]] std::string combination() const
    {
        return is_plus(op_) ? "cuda::std::plus<State>" : "Combine";
    }

    [[nodiscard]] std::string invocation() const
    {
        const std::string scratch = "call->scratch, call->scratch_bytes";
        const auto cub = [&](const std::string& arguments) {
            return fmt::format("    return {}({}, {},\n        {}, call->stream);\n", peer_.call, scratch,
                               "items, totals", arguments);
        };
        if (peer_.name == "cub_segmented")
            return cub("call->num_segments, " + bounds() + ", combination, initial");
        if (peer_.name == "cub_fixed_size")
            return cub("call->num_segments, int(call->segment_length), combination, initial");
        if (peer_.name == "cub_reduce")
            return cub("Index(call->num_elements), combination, initial");
        if (peer_.name == "cub_segmented_hint")
            return fmt::format(
                "    if (!call->scratch) {{\n        call->scratch_bytes = 1;  // allocates what it needs "
                "itself\n"
                "        return cudaSuccess;\n    }}\n"
                "    const auto hint = cuda::execution::guarantee(\n"
                "        cuda::execution::max_segment_size<>{{size_t(call->segment_length)}});\n"
                "    return {}(\n        items, totals, call->num_segments, {}, combination, initial,\n"
                "        cuda::std::execution::env{{cuda::stream_ref{{call->stream}}, hint}});\n",
                peer_.call, bounds());
        if (peer_.name == "cub_reduce_by_key")
            return fmt::format(
                "    return {}({}, call->keys,\n        call->unique_keys, items, totals, call->num_runs, "
                "combination, Index(call->num_elements),\n        call->stream);\n",
                peer_.call, scratch);
        return fmt::format(
            "    Arena arena{{static_cast<char*>(call->scratch), call->scratch_bytes, 0}};\n"
            "    try {{\n"
            "        {}(thrust::cuda::par(arena).on(call->stream), call->keys,\n"
            "            call->keys + call->num_elements, items, call->unique_keys, totals,\n"
            "            cuda::std::equal_to<int>(), combination);\n"
            "    }} catch (const thrust::system_error& error) {{\n"
            "        return error.code().value();\n"
            "    }} catch (const std::bad_alloc&) {{\n"
            "        return cudaErrorMemoryAllocation;\n    }}\n"
            "    if (!call->scratch)\n        call->scratch_bytes = arena.used;\n"
            "    return cudaGetLastError();\n",
            peer_.call);
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
    check_emitted(emitted.source, problem.op);
    return emitted;
}

}  // namespace segfold
