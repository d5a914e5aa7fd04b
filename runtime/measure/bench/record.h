#pragma once
// Measurements of a bench: an Entry per plan or peer, and a WorkloadRecord per workload.
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

/// The outcome of measuring a plan or peer.
enum class Outcome : std::uint8_t { measured, abandoned, left_out, failed };

/// Names of outcomes, in the order of Outcome.
inline constexpr std::array<std::string_view, 4> kOutcomeNames = {"measured", "abandoned", "left_out",
                                                                  "failed"};

/// Returns "measured", "abandoned", "left_out" or "failed".
[[nodiscard]] std::string_view name(Outcome outcome);

/// Whether results are right, and with which results they were compared.
struct Agreement {
    bool is_checked = false;
    bool agrees = true;
    /// The outcome as text, such as "reference", "tile_scan, bit for bit" or "3 of 5000 segments differ from
    /// tile_scan, ...".
    std::string text;
};

/// Resources of a plan's kernels. Each value is the largest over all kernels, except `occupancy`.
struct Resources {
    int registers = 0;
    int spill_bytes = 0;
    int shared_bytes = 0;
    int local_bytes = 0;  ///< stack of a thread, in bytes: spills and indexed arrays
    /// Resident threads of a multiprocessor divided by the most possible, for the kernel with most blocks.
    double occupancy = 0;
};

/// The measurement of one plan or peer on one workload.
struct Entry {
    std::string name;  ///< "tile_scan", "cub_segmented"
    bool is_peer = false;
    bool is_by_key = false;
    bool is_chosen = false;  ///< true: a run would take this plan
    /// True if it ran on the CPU. It is then timed by the host's clock and has no read ceiling.
    bool is_host = false;
    std::string configuration;  ///< "block_threads=256 items_per_thread=4"; empty for peers
    std::string stage_hash;     ///< hash of the stage's text; empty for peers
    Outcome outcome = Outcome::measured;
    /// Reason why the plan was abandoned or left out, or its error, or a part of the work that its time
    /// excludes.
    std::string reason;
    Quartiles milliseconds;  ///< time of a run, by the GPU's events; on a host, by its clock
    int runs = 0;
    std::optional<double> host_microseconds;  ///< time for which one launch keeps the host busy
    /// Time of a run by the host's clock, including the wait for its end.
    std::optional<Quartiles> wall_milliseconds;
    /// Compulsory bytes divided by the median time. Segments count in the form that the stage reads.
    double bytes_per_second = 0;
    double fraction = 0;  ///< share of the read ceiling
    /// For peers that take keys: `fraction`, with the keys counted as compulsory bytes.
    double fraction_with_keys = 0;
    std::optional<Resources> resources;
    double compile_milliseconds = 0;
    /// True if an earlier run compiled the program. `compile_milliseconds` is then from that run.
    bool is_compiled_before = false;
    Agreement agreement;
};

/// A workload and the measurements on it.
struct WorkloadRecord {
    std::string op;
    Type element_type = Type::f32;  ///< type of the first parameter
    std::string layout;
    std::vector<std::int64_t> facts;  ///< values of kRowFacts, about the operator and the machine
    SegmentForm form = SegmentForm::whole;
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;
    std::int64_t longest_length = 0;   ///< longest segment; 0 if the choice of a plan does not need it
    std::int64_t padded_elements = 0;  ///< LengthRange::padded; 0 if the choice of a plan does not need it
    std::int64_t num_features = 1;     ///< length of a row
    int index_bits = 32;
    Traffic traffic;
    /// True if the L2 cache was emptied before every run, because the data would fit into it.
    bool is_flushed = false;
    double preparation_seconds = 0;
    std::vector<Entry> entries;

    /// Returns the entry of the plan that a run would take; null if it was not measured.
    [[nodiscard]] const Entry* chosen() const;
    /// Returns the fastest stage or peer with right results; null if there is none.
    [[nodiscard]] const Entry* best_stage() const;
    [[nodiscard]] const Entry* best_peer() const;
    /// Returns the best peer's time divided by the chosen plan's time; nothing if either is missing or wrong.
    [[nodiscard]] std::optional<double> speed_up() const;
    [[nodiscard]] bool agrees() const;
};

/// The machine of a bench.
struct MachineRecord {
    std::string device;
    std::string driver;        ///< CUDA version of the driver; empty for a host
    std::string compiler;      ///< "NVRTC 13.0"
    std::string library;       ///< "CCCL 3.0.1", or the reason why there are no peers
    std::string date;          ///< "2026-11-20"
    double ceiling = 0;        ///< read ceiling in bytes per second
    std::string ceiling_text;  ///< the grid with which the ceiling was reached
    std::string host = {};     ///< name of the CPU
};

/// Returns a text such as ", driver for CUDA 13.0"; empty for a host, which has no driver.
[[nodiscard]] std::string driver_text(const MachineRecord& machine);

}  // namespace segfold::bench
