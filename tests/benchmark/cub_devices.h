#pragma once
// Sums of the segments of one GPU's part of an array, as a user of CUB writes them by hand.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace segfold::benchmark {

/// Which of CUB's algorithms sums.
enum class CubWay : std::uint8_t {
    reduce,            ///< DeviceReduce::Sum: one segment
    segmented_reduce,  ///< DeviceSegmentedReduce::Sum: a block for each segment; it asks for commutativity
    reduce_by_key,     ///< DeviceReduce::ReduceByKey over a key for each element; it loses empty segments
};

/// The pieces of segments that lie in a part, in order.
struct CubPieces {
    std::int64_t count = 0;
    std::int64_t uniform_length = 0;         ///< of each, where it is not 0
    std::vector<std::int64_t> offsets = {};  ///< [count + 1] else, from 0 to the part's elements
};

/// A part on a GPU, with all that the sums need.
class CubPart {
public:
    /// Throws std::runtime_error naming the call of CUDA that failed.
    CubPart(int device, std::span<const float> values, const CubPieces& pieces, CubWay way);
    ~CubPart();
    CubPart(CubPart&&) noexcept;

    /// Queues the sums.
    void queue();
    /// Waits for them.
    void wait();
    [[nodiscard]] float result(std::int64_t piece);
    void set_result(std::int64_t piece, float value);
    [[nodiscard]] std::vector<float> results();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// How many GPUs there are; 0 without a driver.
[[nodiscard]] int num_cuda_devices();

}  // namespace segfold::benchmark
