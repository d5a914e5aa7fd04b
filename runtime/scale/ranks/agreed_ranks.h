#pragma once
// Ranks of which one may fail while the others wait for it: all of them learn of it, and nobody hangs.
#include <functional>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Ranks that agree on failures. What they gather says of each whether it has failed instead.
///
/// All ranks use one of these in place of what it is made of. They make the same calls of together(), within
/// which they make the same collective calls.
class AgreedRanks : public Communicator {
public:
    /// `ranks` must outlive it.
    explicit AgreedRanks(Communicator& ranks) : ranks_(ranks) {}

    /// Calls `work`, which may make collective calls. Where it throws on some rank, every rank throws an
    /// error of the same kind, which names the lowest such rank: SpecError, InputError, DeviceError,
    /// InternalError or simt::SimtError; or Stopped, where the work of that rank was stopped. Collective.
    ///
    /// Calls may be nested: a failure of an outer one ends the inner ones of other ranks too, by an exception
    /// that is no Error.
    void together(const std::function<void()>& work);

    [[nodiscard]] int rank() const override { return ranks_.rank(); }
    [[nodiscard]] int size() const override { return ranks_.size(); }
    [[nodiscard]] int local_rank() const override { return ranks_.local_rank(); }
    [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override;
    void send(int to, std::span<const std::byte> bytes) override { ranks_.send(to, bytes); }
    void receive(int from, std::span<std::byte> bytes) override { ranks_.receive(from, bytes); }
    [[noreturn]] void abort(int exit_code) override;

    /// What rank 0 gives, on all ranks. Collective.
    [[nodiscard]] std::vector<std::byte> of_first(std::span<const std::byte> mine);

private:
    Communicator& ranks_;
    int depth_ = 0;  ///< how many calls of together() are open
};

}  // namespace segfold
