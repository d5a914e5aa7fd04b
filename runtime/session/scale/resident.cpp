#include "runtime/session/scale/resident.h"

#include <fmt/format.h>

#include <cstring>

#include "dsl/error.h"
#include "runtime/session/laws/operator_laws.h"
#include "runtime/session/scale/border_states.h"
#include "runtime/session/scale/part_memory.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

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

/// The plan of a piece, which writes its state.
class PieceRunner {
public:
    PieceRunner(const ResidentPart& part, const Operator& op, const PartOperator& derived, const Piece& piece,
                std::vector<MutableArrayView> state, const PlanOptions& options)
        : runner_(part, op, derived, piece.begin, piece.length(), whole(),
                  {{BaseTable::index, part.first_element + piece.begin},
                   {BaseTable::segment, piece.segment},
                   {BaseTable::position, piece.position}},
                  options),
          state_(std::move(state))
    {}

    void queue() { runner_.queue(state_); }
    [[nodiscard]] Plan& plan() { return runner_.plan(); }

private:
    PartRunner runner_;
    std::vector<MutableArrayView> state_;
};

/// All that is run of one part.
struct PartPlans {
    std::optional<PartRunner> inner;
    std::optional<PieceRunner> head, tail;
};

void require_part(const Operator& op, const ResidentPart& part, std::size_t number)
{
    if (part.inputs.size() != op.parameters.size())
        throw InputError(fmt::format("part {} has {}, and operator {} takes {}", number,
                                     count_text(std::ssize(part.inputs), "array"), op.name,
                                     op.parameters.size()));
    if (part.num_inner > 0 && part.results.size() != op.results.size())
        throw InputError(fmt::format("part {} has {} for results, and operator {} gives {}", number,
                                     count_text(std::ssize(part.results), "array"), op.name,
                                     op.results.size()));
    require_associative(part.session->laws(op), op, "parts share");
}

}  // namespace

struct ResidentFold::State {
    State(const Operator& folded, std::vector<ResidentPart> given) : op(folded), parts(std::move(given)) {}

    /// Every device works when it returns.
    void queue()
    {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (plans[i].inner)
                plans[i].inner->queue(parts[i].results);
            for (auto* piece : {&plans[i].head, &plans[i].tail})
                if (*piece)
                    (*piece)->queue();
        }
    }

    /// Waits for one device after the other. Throws InputError where a table was read outside.
    void wait()
    {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            for (auto* piece : {&plans[i].head, &plans[i].tail})
                if (*piece)
                    (*piece)->plan().require_tables_read_inside();
            if (plans[i].inner)
                plans[i].inner->plan().require_tables_read_inside();
            if (const auto* context = parts[i].session->backend().context(); context != nullptr)
                context->synchronize();
        }
    }

    /// What ends in this process's parts, where the devices of all have gathered the borders.
    std::vector<BorderJoin::Finished> run_by_nccl(Communicator* ranks)
    {
        states->set_up(ranks);
        queue();
        states->queue_gather();
        std::vector<BorderJoin::Finished> finished;
        if (!parts.empty()) {
            BorderJoin join(op, JoinOrder::as_cut);
            const auto borders = states->gathered();
            for (std::size_t i = 0; i < borders.size(); ++i) {
                auto one = join.add(borders[i]);
                if (one && i >= states->first() && i < states->first() + parts.size())
                    finished.push_back(std::move(*one));
            }
            require_closed(join, "part");
        }
        wait();
        return finished;
    }

    void join_own(BorderJoin& join, std::vector<BorderJoin::Finished>& finished)
    {
        queue();
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (auto one = join.add(states->own(i)))
                finished.push_back(std::move(*one));
        wait();
    }

    static void require_closed(const BorderJoin& join, const char* what)
    {
        if (join.is_open())
            throw InternalError(fmt::format("a segment is still open behind the last {}", what));
    }

    Operator op;
    std::vector<ResidentPart> parts;
    std::vector<PartPlans> plans;
    BorderWay way = BorderWay::host;
    std::optional<BorderStates> states;
};

ResidentFold::ResidentFold(const Operator& op, std::vector<ResidentPart> parts, const PlanOptions& options,
                           BorderWay borders)
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
    for (std::size_t i = 0; i < state_->parts.size(); ++i)
        require_part(op, state_->parts[i], i);
    state_->way = borders;
    state_->states.emplace(op, state_->parts, borders);
    for (std::size_t i = 0; i < state_->parts.size(); ++i) {
        const auto& part = state_->parts[i];
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
            own.head.emplace(part, op, piece, *part.head, state_->states->head(i), of_piece);
        if (part.tail)
            own.tail.emplace(part, op, piece, *part.tail, state_->states->tail(i), of_piece);
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
    if (state_->way == BorderWay::nccl)
        return state_->run_by_nccl(nullptr);
    std::vector<BorderJoin::Finished> finished;
    BorderJoin join(state_->op, JoinOrder::as_cut);
    state_->join_own(join, finished);
    State::require_closed(join, "part");
    return finished;
}

std::vector<BorderJoin::Finished> ResidentFold::run(Communicator& ranks)
{
    if (state_->way == BorderWay::nccl)
        return state_->run_by_nccl(&ranks);
    std::vector<BorderJoin::Finished> finished;
    BorderJoin own(state_->op, JoinOrder::as_cut, JoinBegin::anywhere);
    state_->join_own(own, finished);
    BorderJoin all(state_->op, JoinOrder::as_cut);
    const auto borders = ranks.all_gather(pack(own.border()));
    for (std::size_t rank = 0; rank < borders.size(); ++rank) {
        auto one = all.add(unpack_border(borders[rank], state_->op.state.size(), JoinOrder::as_cut));
        if (one && static_cast<int>(rank) == ranks.rank())
            finished.insert(finished.begin(), std::move(*one));
    }
    State::require_closed(all, "rank");
    return finished;
}

}  // namespace segfold
