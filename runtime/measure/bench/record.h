#pragma once
// A bench's measurements as data: one Entry a plan or peer, one WorkloadRecord a workload.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/layout.h"
#include "dsl/type.h"
#include "runtime/session/choice/traffic.h"
#include "runtime/support/statistics.h"

namespace segfold::bench {

/// Outcome of a plan or peer.
enum class Outcome : std::uint8_t { measured, abandoned, left_out, failed };

/// In the order of Outcome.
inline constexpr std::array<std::string_view, 4> kOutcomeNames = {"measured", "abandoned", "left_out",
                                                                  "failed"};

/// "measured", "abandoned", "left_out", "failed"
[[nodiscard]] std::string_view name(Outcome outcome);

/// Whether results are right, and how that was found out.
struct Agreement {
    bool is_checked = false;
    bool agrees = true;
    std::string
        text;  ///< "reference", "tile_scan, bit for bit", "3 of 5000 segments differ from tile_scan, ..."
};

/// Resources of a plan's kernels; of several the largest of each.
struct Resources {
    int registers = 0;
    int spill_bytes = 0;
    int shared_bytes = 0;
    int local_bytes = 0;  ///< of a thread's stack: spills and arrays that are indexed
    double occupancy =
        0;  ///< threads that a multiprocessor holds, over those it could; the kernel with most blocks
};

/// A stage in a configuration, or a peer, on one workload.
struct Entry {
    std::string name;  ///< "tile_scan", "cub_segmented"
    bool is_peer = false;
    bool is_by_key = false;
    bool is_chosen = false;     ///< the plan that a run takes
    bool is_host = false;       ///< ran on the CPU; times are the host's, and no ceiling is spoken of
    std::string configuration;  ///< "block_threads=256 items_per_thread=4"; empty for peers
    Outcome outcome = Outcome::measured;
    std::string
        reason;  ///< why it was abandoned or left out; its failure; or a part that its time leaves out
    Quartiles milliseconds;  ///< on the GPU
    int runs = 0;
    std::optional<double> host_microseconds;     ///< that the host is busy with one launch
    std::optional<Quartiles> wall_milliseconds;  ///< by the host's clock, until the GPU is done
    double bytes_per_second = 0;                 ///< compulsory bytes, of segments as they are read
    double fraction = 0;                         ///< of the read ceiling
    double fraction_with_keys = 0;  ///< peers by key: over the bytes that they have to move themselves
    std::optional<Resources> resources;
    double compile_milliseconds = 0;
    bool is_compiled_before = false;  ///< taken from an earlier compilation, with its time
    Agreement agreement;
};

/// One workload, with all that was measured on it.
struct WorkloadRecord {
    std::string op;
    Type element_type = Type::f32;  ///< of the first parameter
    std::string layout;
    SegmentForm form = SegmentForm::whole;
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;
    std::int64_t longest_length = 0;   ///< 0 if it chose no plan
    std::int64_t padded_elements = 0;  ///< the same; see LengthRange
    std::int64_t num_features = 1;     ///< the length of rows
    int index_bits = 32;
    Traffic traffic;
    bool is_flushed = false;  ///< the L2 was emptied before every run, because the data would fit
    double preparation_seconds = 0;
    std::vector<Entry> entries;

    /// The plan that a run takes, if it was measured.
    [[nodiscard]] const Entry* chosen() const;
    /// The fastest stage or peer; right results only.
    [[nodiscard]] const Entry* best_stage() const;
    [[nodiscard]] const Entry* best_peer() const;
    /// Time of the best peer over that of the chosen plan; nothing where either is missing or wrong.
    [[nodiscard]] std::optional<double> speed_up() const;
    [[nodiscard]] bool agrees() const;
};

/// The machine of a measurement.
struct MachineRecord {
    std::string device;
    std::string driver;        ///< the driver's CUDA version; empty for a host
    std::string compiler;      ///< "NVRTC 13.0"
    std::string library;       ///< "CCCL 3.0.1", or why there are no peers
    std::string date;          ///< "2026-11-20"
    double ceiling = 0;        ///< bytes per second
    std::string ceiling_text;  ///< the grid that reached it
    std::string host = {};     ///< the CPU
};

/// ", driver for CUDA 13.0"; empty for a host, which has none.
[[nodiscard]] std::string driver_text(const MachineRecord& machine);

}  // namespace segfold::bench
