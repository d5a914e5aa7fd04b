#include "runtime/session/scale/border_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dsl/error.h"
#include "runtime/session/nccl/device_gather.h"
#include "runtime/session/scale/slices/slice_operators.h"

namespace segfold {
namespace {

/// What ranks tell each other of a part once: all but its states, which each run makes anew.
struct PartFacts {
    std::int64_t flags = 0;  ///< one bit for each of Border's
    std::int64_t head_segment = 0, head_items = 0, tail_items = 0;
};

PartFacts facts_of(const Border& border)
{
    return {(border.has_head ? 1 : 0) | (border.has_tail ? 2 : 0) | (border.tail_goes_on ? 4 : 0) |
                (border.has_inner ? 8 : 0),
            border.head_segment, border.head_items, border.tail_items};
}

Border border_of(const PartFacts& facts, std::size_t state_fields)
{
    Border border;
    border.has_head = (facts.flags & 1) != 0;
    border.has_tail = (facts.flags & 2) != 0;
    border.tail_goes_on = (facts.flags & 4) != 0;
    border.has_inner = (facts.flags & 8) != 0;
    border.head_segment = facts.head_segment;
    border.head_items = facts.head_items;
    border.tail_items = facts.tail_items;
    border.head = StateRun(state_fields);
    border.tail = StateRun(state_fields);
    return border;
}

/// What precedes the facts of a rank's parts.
struct RankFacts {
    std::int64_t bytes_of_part = 0;
    nccl::UniqueId id = {};  ///< that of rank 0 counts
};

}  // namespace

/// What NCCL needs, for the ranks that were met last.
struct BorderStates::Gather {
    const nccl::Library& library = nccl::library();
    bool is_set_up = false;
    const Communicator* ranks = nullptr;
    std::vector<Border> bare = {};  ///< of the parts of all ranks
    std::size_t first = 0;
    std::vector<PartMemory> all = {};  ///< on each device, the states of all parts
    std::unique_ptr<nccl::DeviceGather> devices = nullptr;
};

BorderStates::BorderStates(const Operator& op, std::span<const ResidentPart> parts, BorderWay way)
    : fields_(state_operator(op).results),
      bytecode_(compile_bytecode(op)),
      evaluator_(bytecode_),
      parts_(parts)
{
    if (way == BorderWay::nccl) {
        gather_ = std::make_unique<Gather>();
        require_gpus();
    }
    for (const auto& part : parts_) {
        states_.emplace_back(*part.session, bytes_of_part());
        bare_.push_back(border_without_states(part.head, part.tail, part.num_inner > 0, fields_.size()));
    }
}

BorderStates::~BorderStates() = default;

void BorderStates::require_gpus() const
{
    if (gather_->library.gathers_host_memory())
        return;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto& backend = parts_[i].session->backend();
        if (backend.context() == nullptr)
            throw InputError(fmt::format(
                "border states are to go by NCCL, which gathers what lies on GPUs, and part {} is folded by "
                "the back end {}; give a session of cuda, or let the states go by the host",
                i, backend.name()));
        for (std::size_t j = 0; j < i; ++j)
            if (parts_[j].session->backend().context()->handle() == backend.context()->handle())
                throw InputError(
                    fmt::format("border states are to go by NCCL, which takes a GPU once, and parts {} and "
                                "{} both lie on "
                                "GPU {}; give each GPU one part, or let the states go by the host",
                                j, i, backend.context()->info().ordinal));
    }
}

std::vector<MutableArrayView> BorderStates::views(std::size_t part, std::size_t begin)
{
    std::vector<MutableArrayView> views;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
        auto view = states_[part].view(fields_[f].type, 1);
        view.data = static_cast<std::byte*>(view.data) + (begin + f) * kSlotBytes;
        views.push_back(view);
    }
    return views;
}

std::vector<MutableArrayView> BorderStates::head(std::size_t part) { return views(part, 0); }
std::vector<MutableArrayView> BorderStates::tail(std::size_t part) { return views(part, fields_.size()); }

void BorderStates::append_states(Border& border, std::span<const std::byte> bytes)
{
    const auto append = [&](StateRun& into, std::size_t begin) {
        std::vector<Slot<double>> state(fields_.size());
        for (std::size_t f = 0; f < fields_.size(); ++f)
            Machine<double>::load(state[f], fields_[f].type, bytes.data() + (begin + f) * kSlotBytes, 0);
        into.append(evaluator_, 0, state.data());
    };
    if (border.has_head && border.head_items > 0)
        append(border.head, 0);
    if (border.has_tail)
        append(border.tail, fields_.size());
}

Border BorderStates::own(std::size_t part)
{
    auto border = bare_[part];
    if (!border.has_tail && border.head_items == 0)
        return border;
    std::vector<std::byte> bytes(bytes_of_part());
    states_[part].copy_out(bytes);
    append_states(border, bytes);
    return border;
}

void BorderStates::set_up(Communicator* ranks)
{
    auto& gather = *gather_;
    if (gather.is_set_up && gather.ranks == ranks)
        return;
    gather.is_set_up = false;
    gather.devices.reset();
    gather.all.clear();
    gather.bare.clear();
    gather.first = 0;
    RankFacts own{static_cast<std::int64_t>(bytes_of_part()), {}};
    const auto prepare = [&](std::vector<std::vector<std::byte>> messages) {
        for (std::size_t rank = 0; rank < messages.size(); ++rank) {
            RankFacts theirs;
            std::memcpy(&theirs, messages[rank].data(), sizeof theirs);
            if (theirs.bytes_of_part != own.bytes_of_part)
                throw InputError(
                    fmt::format("rank {} of {} has border states of {} bytes, and this one of {}; all fold "
                                "by one operator",
                                rank, messages.size(), theirs.bytes_of_part / 2, own.bytes_of_part / 2));
            if (rank == 0)
                own.id = theirs.id;
            if (ranks != nullptr && static_cast<int>(rank) == ranks->rank())
                gather.first = gather.bare.size();
            for (auto at = sizeof theirs; at + sizeof(PartFacts) <= messages[rank].size();
                 at += sizeof(PartFacts)) {
                PartFacts facts;
                std::memcpy(&facts, messages[rank].data() + at, sizeof facts);
                gather.bare.push_back(border_of(facts, fields_.size()));
            }
        }
        for (const auto& part : parts_)
            gather.all.emplace_back(*part.session, gather.bare.size() * bytes_of_part());
    };
    const auto message = [&] {
        if (ranks == nullptr || ranks->rank() == 0)
            own.id = nccl::new_id(gather.library);
        const auto begin = std::as_bytes(std::span(&own, 1));
        std::vector<std::byte> bytes(begin.begin(), begin.end());
        for (const auto& border : bare_) {
            const auto facts = facts_of(border);
            const auto of_part = std::as_bytes(std::span(&facts, 1));
            bytes.insert(bytes.end(), of_part.begin(), of_part.end());
        }
        return bytes;
    };
    const auto connect = [&] {
        std::vector<const cuda::Context*> contexts;
        for (const auto& part : parts_)
            contexts.push_back(part.session->backend().context());
        if (!parts_.empty())
            gather.devices = std::make_unique<nccl::DeviceGather>(
                gather.library, std::move(contexts), static_cast<int>(gather.first),
                static_cast<int>(gather.bare.size()), own.id);
    };
    if (ranks == nullptr) {
        prepare({message()});
        connect();
    } else {
        // Nobody waits in NCCL for a rank that has failed before.
        AgreedRanks agreed(*ranks);
        agreed.together([&] { prepare(agreed.all_gather(message())); });
        agreed.together(connect);
    }
    gather.ranks = ranks;
    gather.is_set_up = true;
}

void BorderStates::queue_gather()
{
    if (parts_.empty())
        return;
    std::vector<const std::byte*> mine;
    std::vector<std::byte*> all;
    for (auto& states : states_)
        mine.push_back(states.address());
    for (auto& states : gather_->all)
        all.push_back(states.address());
    gather_->devices->all_gather(mine, all, bytes_of_part());
}

std::vector<Border> BorderStates::gathered()
{
    std::vector<std::byte> bytes(gather_->bare.size() * bytes_of_part());
    gather_->all.front().copy_out(bytes);
    auto borders = gather_->bare;
    for (std::size_t i = 0; i < borders.size(); ++i)
        append_states(borders[i], std::span(bytes).subspan(i * bytes_of_part(), bytes_of_part()));
    return borders;
}

std::size_t BorderStates::first() const { return gather_->first; }

}  // namespace segfold
