#pragma once
// Copies between host and GPU, and folds of parts that have arrived while others are on their way.
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/backends/cuda/driver/pinned_buffer.h"
#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// True if results of chunks can be folded as elements, and compared bit for bit: an exact operator of one
/// column whose elements are states and whose states are results, as in a sum of integers.
[[nodiscard]] bool can_fold_chunks(const Operator& op);

/// How values travel.
struct TransferMethod {
    bool is_pinned = false;  ///< page-locked host memory
    bool to_host = false;    ///< from the GPU instead of to it
    int streams = 1;         ///< that copy and fold by turns
    int chunks = 1;          ///< equal parts, each copied and folded by itself
};

/// The stage that folds arrived parts; none for a mere copy.
struct TransferFold {
    const Stage* stage = nullptr;
    std::map<std::string, int> chosen;  ///< tunables
};

/// Measures transfers of the one column of a workload over one segment.
class Transfers {
public:
    /// All must outlive this object; `values` is the column on the host, in ordinary memory.
    ///
    /// Throws InputError unless the operator is exact and folds its own results as elements, as a sum does:
    /// results of chunks are folded once more, in their order. Throws DeviceError if the bench measures no
    /// GPU.
    Transfers(Bench& bench, const Problem& problem, std::span<const std::byte> values,
              const Catalogue& catalogue);

    /// Times a method by events and by the host's clock, `repeats` times or as often as two seconds allow.
    ///
    /// Compares arrived bytes with sent ones, a fold with one thread's fold on the host; a difference is a
    /// failed entry without times. Counts the bytes that travel. Throws InputError if the elements cannot be
    /// cut into equal chunks, DeviceError if memory does not suffice.
    [[nodiscard]] Entry measure(const std::string& row, const TransferMethod& method,
                                const TransferFold& fold, int repeats);

private:
    [[nodiscard]] std::span<const std::byte> source(bool is_pinned);
    [[nodiscard]] const std::vector<std::byte>& expected();
    void copy(Entry& entry, const TransferMethod& method, int repeats);
    void copy_and_fold(Entry& entry, const TransferMethod& method, const TransferFold& fold, int repeats);
    template <class Work>
    void time(Entry& entry, cuda::Stream& stream, int repeats, Work work);

    cuda::CudaTiming& timing_;
    const Problem& problem_;
    std::span<const std::byte> values_;
    const Catalogue& catalogue_;
    cuda::PinnedBuffer pinned_;
    std::vector<std::byte> expected_;
};

}  // namespace segfold::bench
