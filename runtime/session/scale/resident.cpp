#include "runtime/session/scale/resident.h"

#include <fmt/format.h>

#include <cstring>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/device_buffer.h"
#include "runtime/data/shape.h"
#include "runtime/session/operator_laws.h"
#include "runtime/session/scale/slice_fold.h"

namespace segfold {
namespace {

/// Bytes that a GPU's memory brings at a time. Stages whose elements lie across such borders take up to 1.25
/// times as long.
constexpr std::size_t kRowBytes = 128;

/// Memory where a session's plans run.
class PartMemory {
public:
    PartMemory(Session& session, std::size_t bytes)
    {
        if (const auto* context = session.backend().context(); context != nullptr)
            device_.emplace(*context, bytes);
        else
            host_ = Array(Type::u8, bytes);
    }
    /// A copy, of which byte `row` lies at the begin of a row of memory.
    PartMemory(Session& session, std::span<const std::byte> contents, std::size_t row = 0)
        : PartMemory(session, contents.size() + kRowBytes - 1)
    {
        begin_ = (kRowBytes - row % kRowBytes) % kRowBytes;
        if (device_)
            device_->copy_in(contents, begin_);
        else if (!contents.empty())
            std::memcpy(host_.data() + begin_, contents.data(), contents.size());
    }

    [[nodiscard]] Place place() const { return device_ ? Place::device : Place::host; }
    [[nodiscard]] std::byte* address()
    {
        return (device_ ? reinterpret_cast<std::byte*>(device_->address()) : host_.data()) + begin_;
    }
    [[nodiscard]] MutableArrayView view(Type type, std::int64_t length)
    {
        MutableArrayView lent;
        lent.type = type;
        lent.data = address();
        lent.length = length;
        lent.place = place();
        return lent;
    }
    /// Waits for what was queued on the default stream.
    void copy_out(std::span<std::byte> target) const
    {
        if (target.empty())
            return;
        if (device_)
            device_->copy_out(target, begin_);
        else
            std::memcpy(target.data(), host_.data() + begin_, target.size());
    }

private:
    std::optional<cuda::DeviceBuffer> device_;
    Array host_;
    std::size_t begin_ = 0;  ///< bytes before what is kept
};

ArrayView part_view(ArrayView array, std::int64_t begin, std::int64_t count)
{
    array.data =
        static_cast<const std::byte*>(array.data) + static_cast<std::size_t>(begin) * size_bytes(array.type);
    array.length = count;
    return array;
}

/// One plan of one part, with all that a run is given.
class PartRunner {
public:
    /// Of `count` elements from `begin` on; `numbers` are those that the part's operator asks for.
    PartRunner(const ResidentPart& part, const Operator& op, const PartOperator& derived, std::int64_t begin,
               std::int64_t count, const SegmentsView& segments,
               const std::map<BaseTable, std::int64_t>& numbers, const PlanOptions& options)
        : segments_(segments), plan_(part.session->plan(derived.op, segments, count, options))
    {
        for (std::size_t i = 0; i < op.parameters.size(); ++i)
            inputs_.push_back(op.parameters[i].table ? part.inputs[i]
                                                     : part_view(part.inputs[i], begin, count));
        for (const auto base : derived.bases) {
            const auto number = numbers.at(base);
            bases_.emplace_back(*part.session, std::as_bytes(std::span(&number, 1)));
            inputs_.emplace_back(Type::i64, bases_.back().address(), 1, bases_.back().place());
        }
    }

    void queue(std::span<const MutableArrayView> results) { plan_.run(inputs_, segments_, results); }
    [[nodiscard]] Plan& plan() { return plan_; }

private:
    SegmentsView segments_;
    Plan plan_;
    std::vector<PartMemory> bases_;
    std::vector<ArrayView> inputs_;
};

/// The plan of a piece, and its state.
class PieceRunner {
public:
    PieceRunner(const ResidentPart& part, const Operator& op, const PartOperator& derived, const Piece& piece,
                const PlanOptions& options)
        : fields_(derived.op.results),
          runner_(part, op, derived, piece.begin, piece.length(), whole(),
                  {{BaseTable::index, part.first_element + piece.begin},
                   {BaseTable::segment, piece.segment},
                   {BaseTable::position, piece.position}},
                  options)
    {
        for (const auto& field : fields_) {
            states_.emplace_back(*part.session, size_bytes(field.type));
            results_.push_back(states_.back().view(field.type, 1));
        }
    }

    void queue() { runner_.queue(results_); }
    /// Waits, and adds the piece's state.
    void append_to(StateRun& run, Evaluator<double>& evaluator)
    {
        runner_.plan().require_tables_read_inside();
        std::vector<Slot<double>> state(fields_.size());
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            std::byte bytes[8] = {};
            states_[f].copy_out(std::span(bytes, size_bytes(fields_[f].type)));
            Machine<double>::load(state[f], fields_[f].type, bytes, 0);
        }
        run.append(evaluator, 0, state.data());
    }

private:
    std::vector<ResultField> fields_;
    PartRunner runner_;
    std::vector<PartMemory> states_;
    std::vector<MutableArrayView> results_;
};

/// All that is run of one part.
struct PartPlans {
    std::optional<PartRunner> inner;
    std::optional<PieceRunner> head, tail;
};

/// Where the most elements lie that one plan folds: plans are fastest from the begin of a row on.
std::int64_t begin_of_most(const Slice& slice)
{
    auto begin = slice.inner.form == SegmentForm::ranges ? 0 : slice.inner_begin;
    auto most = slice.inner.num_segments > 0 ? slice.inner.num_elements : 0;
    for (const auto& piece : {slice.head, slice.tail})
        if (piece && piece->length() > most) {
            begin = piece->begin;
            most = piece->length();
        }
    return begin;
}

void require_part(const Operator& op, const ResidentPart& part, std::size_t number)
{
    if (part.inputs.size() != op.parameters.size())
        throw InputError(fmt::format("part {} has {} arrays, and operator {} takes {}", number,
                                     part.inputs.size(), op.name, op.parameters.size()));
    if (part.num_inner > 0 && part.results.size() != op.results.size())
        throw InputError(fmt::format("part {} has {} arrays for results, and operator {} gives {}", number,
                                     part.results.size(), op.name, op.results.size()));
    if (!part.session->laws(op).usable.associative)
        throw InputError("operator " + op.name +
                         " is not associative, so that segments which parts share would have other results");
}

}  // namespace

struct ResidentFold::State {
    State(const Operator& folded, std::vector<ResidentPart> given)
        : op(folded), parts(std::move(given)), bytecode(compile_bytecode(op)), evaluator(bytecode)
    {}

    Border border_of(std::size_t number)
    {
        const auto& part = parts[number];
        auto& own = plans[number];
        auto border = border_without_states(part.head, part.tail, part.num_inner > 0, op.state.size());
        if (own.head)
            own.head->append_to(border.head, evaluator);
        if (own.tail)
            own.tail->append_to(border.tail, evaluator);
        return border;
    }

    void fold(BorderJoin& join, std::vector<BorderJoin::Finished>& finished)
    {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (plans[i].inner)
                plans[i].inner->queue(parts[i].results);
            for (auto* piece : {&plans[i].head, &plans[i].tail})
                if (*piece)
                    (*piece)->queue();
        }
        // Every device works by now; what follows waits for one after the other.
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (auto one = join.add(border_of(i)))
                finished.push_back(std::move(*one));
            if (plans[i].inner)
                plans[i].inner->plan().require_tables_read_inside();
            if (const auto* context = parts[i].session->backend().context(); context != nullptr)
                context->synchronize();
        }
    }

    Operator op;
    std::vector<ResidentPart> parts;
    std::vector<PartPlans> plans;
    Bytecode bytecode;
    Evaluator<double> evaluator;
};

ResidentFold::ResidentFold(const Operator& op, std::vector<ResidentPart> parts, const PlanOptions& options)
    : state_(std::make_unique<State>(op, std::move(parts)))
{
    require_slices(op);
    if (options.request.is_reproducible)
        throw InputError(
            "a fold of parts that lie on devices has the order of its parts; fold_sliced() folds "
            "reproducibly");
    const auto inner = inner_operator(op), piece = piece_operator(op);
    if (inner.misnumbers_empties)
        throw InputError(
            "operator " + op.name +
            " tells an empty segment its number, which a part does not know; fold_sliced() folds it");
    for (std::size_t i = 0; i < state_->parts.size(); ++i) {
        const auto& part = state_->parts[i];
        require_part(op, part, i);
        auto& own = state_->plans.emplace_back();
        if (part.num_inner > 0) {
            auto of_inner = options;
            of_inner.longest = part.longest;
            own.inner.emplace(
                part, op, inner, part.inner_begin, part.inner_elements, part.inner,
                std::map<BaseTable, std::int64_t>{{BaseTable::index, part.first_element + part.inner_begin},
                                                  {BaseTable::segment, part.first_inner}},
                of_inner);
        }
        auto of_piece = options;
        of_piece.request = {};  // a piece is one segment, whatever the others are
        if (part.head && part.head->length() > 0)
            own.head.emplace(part, op, piece, *part.head, of_piece);
        if (part.tail)
            own.tail.emplace(part, op, piece, *part.tail, of_piece);
    }
}

ResidentFold::~ResidentFold() = default;
ResidentFold::ResidentFold(ResidentFold&&) noexcept = default;

std::span<const ResidentPart> ResidentFold::parts() const { return state_->parts; }

const Plan* ResidentFold::plan() const
{
    for (auto& own : state_->plans)
        if (own.inner)
            return &own.inner->plan();
    return nullptr;
}

std::vector<BorderJoin::Finished> ResidentFold::run()
{
    std::vector<BorderJoin::Finished> finished;
    BorderJoin join(state_->op, JoinOrder::as_cut);
    state_->fold(join, finished);
    if (join.is_open())
        throw InternalError("a segment is still open behind the last part");
    return finished;
}

std::vector<BorderJoin::Finished> ResidentFold::run(Communicator& ranks)
{
    std::vector<BorderJoin::Finished> finished;
    BorderJoin own(state_->op, JoinOrder::as_cut, JoinBegin::anywhere);
    state_->fold(own, finished);
    BorderJoin all(state_->op, JoinOrder::as_cut);
    const auto borders = ranks.all_gather(pack(own.border()));
    for (std::size_t rank = 0; rank < borders.size(); ++rank) {
        auto one = all.add(unpack_border(borders[rank], state_->op.state.size(), JoinOrder::as_cut));
        if (one && static_cast<int>(rank) == ranks.rank())
            finished.insert(finished.begin(), std::move(*one));
    }
    if (all.is_open())
        throw InternalError("a segment is still open behind the last rank");
    return finished;
}

struct DividedWorkload::State {
    explicit State(const Workload& whole) : workload(whole) {}

    /// An array of the host where the session's plans read it; `row` is the element that begins a row of
    /// memory.
    ArrayView lend(Session& session, const Array& array, std::int64_t row = 0)
    {
        const auto length = static_cast<std::int64_t>(array.length());
        if (session.backend().context() == nullptr)
            return {array.type(), array.data(), length};
        memory.emplace_back(session, std::span(array.data(), array.bytes()),
                            static_cast<std::size_t>(row) * size_bytes(array.type()));
        return {array.type(), memory.back().address(), length, memory.back().place()};
    }

    SegmentsView lend(Session& session, const Segments& segments)
    {
        switch (segments.form) {
            case SegmentForm::whole:
                return whole();
            case SegmentForm::uniform:
                return uniform(segments.uniform_length);
            case SegmentForm::offsets:
                return offsets(lend(session, segments.offsets));
            case SegmentForm::ranges:
                return ranges(lend(session, segments.begins), lend(session, segments.ends));
            default:
                throw InputError(fmt::format(
                    "segments of parts on devices are given by {}; give their offsets", name(segments.form)));
        }
    }

    void add(Session& session, Slice&& slice)
    {
        ResidentPart part;
        part.session = &session;
        slices.push_back(std::make_unique<Slice>(std::move(slice)));
        const auto& kept = *slices.back();
        const auto row = begin_of_most(kept);
        for (std::size_t i = 0; i < kept.arrays.size(); ++i)
            part.inputs.push_back(lend(session, kept.arrays[i], workload.op.parameters[i].table ? 0 : row));
        part.first_element = kept.first_element;
        part.first_inner = kept.first_inner;
        part.num_inner = kept.inner.num_segments;
        const bool is_ranges = kept.inner.form == SegmentForm::ranges;
        part.inner_begin = is_ranges ? 0 : kept.inner_begin;
        part.inner_elements = is_ranges ? kept.num_elements : kept.inner.num_elements;
        part.head = kept.head;
        part.tail = kept.tail;
        if (part.num_inner > 0) {
            part.inner = lend(session, kept.inner);
            part.longest = shape_of(kept.inner).longest;
            for (const auto& field : workload.op.results) {
                memory.emplace_back(session,
                                    static_cast<std::size_t>(part.num_inner) * size_bytes(field.type));
                results.push_back(memory.size() - 1);
                part.results.push_back(memory.back().view(field.type, part.num_inner));
            }
        }
        parts.push_back(std::move(part));
    }

    const Workload& workload;
    std::vector<PartMemory> memory;
    std::vector<std::size_t> results;  ///< which of the memory, part after part
    std::vector<std::unique_ptr<Slice>> slices;
    std::vector<ResidentPart> parts;
};

DividedWorkload::DividedWorkload(std::span<Session* const> sessions, const Workload& workload,
                                 std::int64_t first, std::int64_t num_slices)
    : state_(std::make_unique<State>(workload))
{
    check_workload(workload);
    const Slicer slicer(workload, num_slices);
    for (std::size_t i = 0; i < sessions.size(); ++i)
        state_->add(*sessions[i], slicer.slice(first + static_cast<std::int64_t>(i)));
}

DividedWorkload::~DividedWorkload() = default;

std::vector<ResidentPart> DividedWorkload::parts() const { return state_->parts; }

void DividedWorkload::gather(Results& all) const
{
    std::size_t next = 0;
    for (const auto& part : state_->parts)
        for (std::size_t f = 0; f < part.results.size(); ++f) {
            auto& into = all[f].array;
            const auto width = size_bytes(into.type());
            state_->memory[state_->results[next++]].copy_out(
                {into.data() + static_cast<std::size_t>(part.first_inner) * width,
                 static_cast<std::size_t>(part.num_inner) * width});
        }
}

}  // namespace segfold
