#pragma once
// Messages between the processes of a fold.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace segfold {

/// The processes of one run of a program. Each process has a rank, a number from 0 on. All processes make the
/// same collective calls in the same order.
class Communicator {
public:
    virtual ~Communicator() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// The index of this process among the processes on its host.
    [[nodiscard]] virtual int local_rank() const = 0;
    /// Returns the bytes that each rank passes as `mine`, in the order of ranks. Collective.
    [[nodiscard]] virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) = 0;
    /// Sends bytes to rank `to`, which must receive() the same number of bytes.
    virtual void send(int to, std::span<const std::byte> bytes) = 0;
    virtual void receive(int from, std::span<std::byte> bytes) = 0;
    /// Ends all ranks of the run at once. Does not return.
    [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace segfold
