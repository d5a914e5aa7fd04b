#pragma once
// Measures copies between host and GPU, and folds of arrived chunks while later chunks are still copied.
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/backends/cuda/driver/pinned_buffer.h"
#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// True if the results of chunks can be folded as elements once more, and compared bit for bit. For this the
/// operator must be exact, have one column, and use the same type for elements, states and results, as a sum
/// of integers does.
[[nodiscard]] bool can_fold_chunks(const Operator& op);

/// The way in which values are copied.
struct TransferMethod {
    bool is_pinned = false;  ///< true: from page-locked host memory
    bool to_host = false;    ///< true: from the GPU to the host; false: to the GPU
    int streams = 1;         ///< number of streams that copy and fold in turn
    int chunks = 1;          ///< equal parts, each copied and folded separately
};

/// The stage that folds arrived data; `stage` is null for a mere copy.
struct TransferFold {
    const Stage* stage = nullptr;
    std::map<std::string, int> chosen;  ///< values of its tunables
};

/// Measures transfers of a workload that has one column and one segment.
class Transfers {
public:
    /// All arguments must outlive this object. `values` is the column in ordinary host memory.
    ///
    /// Throws InputError unless can_fold_chunks() is true, because the results of chunks are folded once
    /// more, in their order. Throws DeviceError if the bench does not measure a GPU.
    Transfers(Bench& bench, const Problem& problem, std::span<const std::byte> values,
              const Catalogue& catalogue);

    /// Times a method by events and by the host's clock. Makes `repeats` runs, or fewer if they would take
    /// more than two seconds, but at least three.
    ///
    /// Copied data are compared with the original, and a fold with the fold of one host thread. A difference
    /// makes the entry a failure without times. The entry's bytes are the copied bytes. Throws InputError if
    /// the elements cannot be cut into equal chunks, DeviceError if memory does not suffice.
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
