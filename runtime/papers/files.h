#pragma once
// The files of papers/: for each source its experiments, the numbers it published, and ours.
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

/// How an experiment is measured.
enum class ExperimentKind : std::uint8_t {
    ladder,    ///< stages over one workload
    probe,     ///< small kernels that are no reductions
    transfer,  ///< copies between host and GPU, and folds of arriving parts
    timer      ///< launches by the GPU's events and by the host's clock
};

/// "ladder", "probe", "transfer", "timer"
[[nodiscard]] std::string_view name(ExperimentKind kind);

/// A rung of an experiment: the source's name for it, and the stage to measure.
struct PaperRow {
    std::string row;
    bool is_host = false;               ///< one thread of the CPU instead of a stage
    std::string stage;                  ///< or the probe; empty for a row of the host and for a mere copy
    std::map<std::string, int> chosen;  ///< tunables
    std::optional<std::int64_t> num_elements = {};  ///< where a row of a timer has its own
    bench::TransferMethod transfer = {};            ///< of a transfer
};

/// One table or curve of a source: an operator over one workload, measured with every rung.
struct Experiment {
    ExperimentKind kind = ExperimentKind::ladder;
    std::string figure;  ///< as published.csv names it
    std::string title;
    std::string op;            ///< a standard operator; empty where probes are run
    std::optional<Type> type;  ///< of its values
    Layout layout;
    std::int64_t num_elements = 0;  ///< of probes: threads
    std::vector<PaperRow> rows;     ///< in the order in which each improves on the one before
};

/// One number that a source states.
struct PublishedValue {
    std::string figure, row, metric;
    double value = 0;
    std::string unit, device;
    std::string read_from;  ///< where in the source
};

/// A source.
struct Paper {
    std::string name;  ///< of its folder: "harris2007"
    std::string title, authors, published_in;
    int year = 0;
    std::string claim;
    std::vector<Experiment> experiments;
    std::vector<PublishedValue> published;
    std::vector<std::string> measured;  ///< documents of measured/, by path

    /// The source's number for a rung, if it states one.
    [[nodiscard]] const PublishedValue* find(std::string_view figure, std::string_view row,
                                             std::string_view metric) const;
};

/// Reads `paper.json`. Throws SpecError that names `file` and what is missing or wrong.
[[nodiscard]] Paper read_paper(const std::string& name, const std::string& file, std::string_view text);

/// Reads `published.csv`: the columns figure, row, metric, value, unit, device, read_from. Fields may stand
/// in double quotes. Throws SpecError that names file and line.
[[nodiscard]] std::vector<PublishedValue> read_published(const std::string& file, std::string_view text);

/// The papers that came with the program, by year and name.
[[nodiscard]] const std::vector<Paper>& embedded_papers();

/// One of them. Throws InputError that lists them.
[[nodiscard]] const Paper& embedded_paper(std::string_view name);

/// Measurements of one experiment: a rung for each row that was run.
struct MeasuredExperiment {
    std::string figure;
    bench::WorkloadRecord record;  ///< entries in the order of the rows, named as rows are
};

/// One run of a paper on one GPU.
struct MeasuredPaper {
    bench::MachineRecord machine;
    std::vector<MeasuredExperiment> experiments;
};

[[nodiscard]] Json json_of(const std::string& paper, const MeasuredPaper& measured);
/// Reads what json_of() writes. Throws SpecError that names `file`.
[[nodiscard]] MeasuredPaper measured_paper(const std::string& file, std::string_view text);

/// A measurement that came with the program, by its path as `Paper::measured` has it.
[[nodiscard]] MeasuredPaper embedded_measurement(const std::string& path);

}  // namespace segfold::papers
