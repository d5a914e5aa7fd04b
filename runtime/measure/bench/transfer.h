#pragma once
// Measures copies between host and GPU, and folds that overlap with copies.
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/backends/cuda/driver/pinned_buffer.h"
#include "runtime/measure/bench/ladder.h"

namespace segfold::bench {

/// True if the results of chunks can themselves be folded as elements, and the final result compared bit for
/// bit. The operator must be exact, have one column, and use one type for elements, states and results. A sum
/// of integers does.
[[nodiscard]] bool can_fold_chunks(const Operator& op);

/// How values are copied.
struct TransferMethod {
    bool is_pinned = false;  ///< true: host memory is page-locked
    bool to_host = false;    ///< true: copies from the GPU to the host; false: from the host to the GPU
    int streams = 1;         ///< number of streams that take turns
    int chunks = 1;          ///< number of equal parts that are copied and folded separately
};

/// The stage that folds the copied data. `stage` is null if data are only copied.
struct TransferFold {
    const Stage* stage = nullptr;
    std::map<std::string, int> chosen;  ///< values of the stage's tunables
};

/// Measures transfers of a workload with one column and one segment.
class Transfers {
public:
    /// All arguments must outlive this object. `values` is the column, in pageable host memory.
    ///
    /// Throws InputError if can_fold_chunks() is false. Throws DeviceError if the bench does not measure a
    /// GPU.
    Transfers(Bench& bench, const Problem& problem, std::span<const std::byte> values,
              const Catalogue& catalogue);

    /// Times a method by events and by the host's clock. Makes `repeats` runs, but stops after two seconds;
    /// makes at least three.
    ///
    /// Compares copied data with the original, and a fold with a fold by one host thread. If they differ, the
    /// entry has failed and has no times. The entry counts the copied bytes. Throws InputError if the
    /// elements cannot be divided into equal chunks, and DeviceError if memory does not suffice.
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
