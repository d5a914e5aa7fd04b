#pragma once
// The states at the borders of parts that lie on devices: where plans write them, and how they come together.
#include <memory>
#include <span>
#include <vector>

#include "runtime/session/scale/part_memory.h"
#include "runtime/session/scale/ranks/agreed_ranks.h"
#include "runtime/session/scale/resident.h"

namespace segfold {

/// Of each part the states of its head and of its tail, packed on the part's device: 8 bytes a field,
/// whatever its type.
class BorderStates {
public:
    /// `parts` must outlive it. For NCCL, throws InputError where they do not lie on a GPU each, and
    /// DeviceError where it cannot be opened.
    BorderStates(const Operator& op, std::span<const ResidentPart> parts, BorderWay way);
    ~BorderStates();

    /// Where the plans of a part write the state of its head, and that of its tail: one element a field.
    [[nodiscard]] std::vector<MutableArrayView> head(std::size_t part);
    [[nodiscard]] std::vector<MutableArrayView> tail(std::size_t part);

    /// Waits for the part's device, and gives its border.
    [[nodiscard]] Border own(std::size_t part);

    /// Makes NCCL's communicators of the devices of all ranks, null for one process, where they are not
    /// there. Throws on all ranks what one of them meets. Collective.
    void set_up(Communicator* ranks);
    /// Queues on each device, behind the plans, that it receives the states of all. Collective.
    void queue_gather();
    /// Waits for one device, and gives the borders of the parts of all ranks, in their order.
    [[nodiscard]] std::vector<Border> gathered();
    /// How many parts the ranks before have.
    [[nodiscard]] std::size_t first() const;

private:
    struct Gather;

    [[nodiscard]] std::vector<MutableArrayView> views(std::size_t part, std::size_t begin);
    [[nodiscard]] std::size_t bytes_of_part() const { return 2 * fields_.size() * kSlotBytes; }
    void append_states(Border& border, std::span<const std::byte> bytes);
    void require_gpus() const;

    static constexpr std::size_t kSlotBytes = 8;

    std::vector<ResultField> fields_;  ///< of a state
    Bytecode bytecode_;
    Evaluator<double> evaluator_;
    std::span<const ResidentPart> parts_;
    std::vector<PartMemory> states_;  ///< of each part
    std::vector<Border> bare_;        ///< of each part, without states
    std::unique_ptr<Gather> gather_;
};

}  // namespace segfold
