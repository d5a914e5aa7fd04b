#pragma once
// Lets ranks exchange failures, so that no rank waits for a failed rank.
#include <functional>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// A communicator whose ranks agree on failures. A failed rank sends its failure in place of its bytes.
///
/// Every rank must use an AgreedRanks in place of `ranks`, make the same calls of together(), and make the
/// same collective calls within each of them.
class AgreedRanks : public Communicator {
public:
    /// `ranks` must outlive this object.
    explicit AgreedRanks(Communicator& ranks) : ranks_(ranks) {}

    /// Calls `work`, which may make collective calls. Collective.
    ///
    /// If `work` throws on a rank, every rank throws an error of the same kind that names the lowest failed
    /// rank. The kinds are SpecError, InputError, DeviceError, InternalError, simt::SimtError and Stopped.
    /// Calls may be nested. If a rank fails in an outer call, the inner calls of other ranks throw an
    /// exception that is not an Error.
    void together(const std::function<void()>& work);

    [[nodiscard]] int rank() const override { return ranks_.rank(); }
    [[nodiscard]] int size() const override { return ranks_.size(); }
    [[nodiscard]] int local_rank() const override { return ranks_.local_rank(); }
    [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override;
    void send(int to, std::span<const std::byte> bytes) override { ranks_.send(to, bytes); }
    void receive(int from, std::span<std::byte> bytes) override { ranks_.receive(from, bytes); }
    [[noreturn]] void abort(int exit_code) override;

    /// Returns on every rank the bytes that rank 0 passes as `mine`. Collective.
    [[nodiscard]] std::vector<std::byte> of_first(std::span<const std::byte> mine);

private:
    Communicator& ranks_;
    int depth_ = 0;  ///< depth of nested calls of together()
};

}  // namespace segfold
