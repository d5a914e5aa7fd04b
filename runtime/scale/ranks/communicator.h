#pragma once
// What several processes that fold together ask of each other.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace segfold {

/// Processes of one run, numbered from 0: ranks. All of them make the same collective calls in one order.
class Communicator {
public:
    virtual ~Communicator() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// This rank's place among those of its host.
    [[nodiscard]] virtual int local_rank() const = 0;
    /// Gives every rank what each of them has given, in the order of ranks. Collective.
    [[nodiscard]] virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) = 0;
    /// Sends to one rank, which must receive as many bytes.
    virtual void send(int to, std::span<const std::byte> bytes) = 0;
    virtual void receive(int from, std::span<std::byte> bytes) = 0;
    /// Ends all ranks of the run, now. Does not return.
    [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace segfold
