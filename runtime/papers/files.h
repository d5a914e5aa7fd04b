#pragma once
// The contents of the folder papers/. Each source has its experiments, its published numbers, and the
// project's measurements.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/layout.h"
#include "dsl/type.h"
#include "runtime/measure/bench/record.h"
#include "runtime/measure/bench/transfer.h"
#include "runtime/support/json_value.h"

namespace segfold::papers {

/// Kind of an experiment. It decides how rows are measured.
enum class ExperimentKind : std::uint8_t {
    ladder,    ///< stages on one workload
    probe,     ///< small kernels that do not reduce
    transfer,  ///< copies between host and GPU, and folds of chunks as they arrive
    timer,     ///< launches, timed by the GPU's events and by the host's clock
    contest    ///< workloads, each with the plan that a run takes and the best peer
};

/// Returns "ladder", "probe", "transfer", "timer" or "contest".
[[nodiscard]] std::string_view name(ExperimentKind kind);

/// A row of an experiment, also called a rung. It has the name of a row in the source, and the stage measured
/// for it.
struct PaperRow {
    std::string row;
    bool is_host = false;  ///< true: the row is measured on one CPU thread, without a stage
    std::string stage;     ///< name of a stage or a probe; empty for the host and for a mere copy
    std::map<std::string, int> chosen;              ///< values of tunables
    std::optional<std::int64_t> num_elements = {};  ///< set if the row of a timer has a size of its own
    bench::TransferMethod transfer = {};            ///< for experiments of kind transfer
    Layout layout = {};                             ///< for experiments of kind contest
};

/// One table or curve of a source, that is, an operator on one workload, measured with every rung.
struct Experiment {
    ExperimentKind kind = ExperimentKind::ladder;
    std::string figure;  ///< the figure's name in published.csv
    std::string title;
    std::string op;            ///< a standard operator; empty for probes
    std::optional<Type> type;  ///< type of its values
    Layout layout;
    std::int64_t num_elements = 0;  ///< for probes: the number of threads
    std::vector<PaperRow> rows;     ///< in order of improvement
};

/// A number that a source states.
struct PublishedValue {
    std::string figure, row, metric;
    double value = 0;
    std::string unit, device;
    std::string read_from;  ///< the number's place in the source
};

/// A source: a publication whose experiments are repeated.
struct Paper {
    std::string name;  ///< name of its folder: "harris2007"
    std::string title, authors, published_in;
    int year = 0;
    std::string claim;
    std::vector<Experiment> experiments;
    std::vector<PublishedValue> published;
    std::vector<std::string> measured;  ///< paths of the documents in measured/

    /// Returns the published number of a row; null if the source states none.
    [[nodiscard]] const PublishedValue* find(std::string_view figure, std::string_view row,
                                             std::string_view metric) const;
};

/// Reads `paper.json`. Throws SpecError, which names `file` and the member, if a member is missing or wrong.
[[nodiscard]] Paper read_paper(const std::string& name, const std::string& file, std::string_view text);

/// Reads `published.csv`, with the columns figure, row, metric, value, unit, device, read_from. Fields may be
/// in double quotes. Throws SpecError, which names file and line, if a line is malformed.
[[nodiscard]] std::vector<PublishedValue> read_published(const std::string& file, std::string_view text);

/// Returns the papers that come with the program, ordered by year and name.
[[nodiscard]] const std::vector<Paper>& embedded_papers();

/// Returns the paper called `name`. Throws InputError with a list of the papers if there is none.
[[nodiscard]] const Paper& embedded_paper(std::string_view name);

/// The measurement of one experiment, with an entry for each row that ran.
struct MeasuredExperiment {
    std::string figure;
    /// Entries have the rows' order and names. A row of a contest has two entries, one for the plan and one
    /// for the peer. Their configurations begin with the names of stage and peer.
    bench::WorkloadRecord record;
};

/// Measurements of a paper from one run on one GPU.
struct MeasuredPaper {
    bench::MachineRecord machine;
    std::vector<MeasuredExperiment> experiments;
};

[[nodiscard]] Json json_of(const std::string& paper, const MeasuredPaper& measured);
/// Reads the output of json_of(). Throws SpecError, which names `file`, if it is malformed.
[[nodiscard]] MeasuredPaper measured_paper(const std::string& file, std::string_view text);

/// Returns a measurement that comes with the program, by a path from `Paper::measured`.
[[nodiscard]] MeasuredPaper embedded_measurement(const std::string& path);

}  // namespace segfold::papers
