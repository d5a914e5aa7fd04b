#pragma once
// Storage of tuning records: the user's records, and the records that come with the program.
#include <functional>
#include <string>
#include <vector>

#include "runtime/session/choice/record.h"

namespace segfold {

/// Returns the folder of the user's records: $SEGFOLD_TUNING_DIR, else $XDG_DATA_HOME/segfold/tuning, else
/// ~/.local/share/segfold/tuning; empty if none of the variables is set.
std::string record_folder();

/// Appends tuning records to a file. Each record is on the disk before append() returns. Meanwhile other
/// processes may append records to the file and remove records from it.
class RecordFile {
public:
    /// Opens the file and makes missing folders. If the last line was cut off, adds a line break, so that a
    /// new row begins on its own line. Throws InputError if the file cannot be written.
    explicit RecordFile(std::string path);
    ~RecordFile();
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    /// Writes the record as one line. Throws InputError if the line cannot be written.
    void append(const TuningRecord& record);
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    void open();
    void close();

    std::string path_;
    int descriptor_ = -1;
};

/// All known tuning records: first the records that come with the program, then the user's records.
class RecordStore {
public:
    /// Reads the records that come with the program and, unless `folder` is empty, the records in `folder`. A
    /// folder or file that cannot be read becomes a complaint. If `for_host` is true, skips the program's
    /// records, because all are of GPUs, and reading them takes longer than a short run on the host.
    static RecordStore open(const std::string& folder, bool for_host = false);
    /// Makes a store of the given records only.
    static RecordStore of(std::vector<TuningRecord> rows);

    [[nodiscard]] const std::vector<TuningRecord>& rows() const { return rows_; }
    /// The records of phase `spot`, which rows() omits, because tuning and its lookups do not use them.
    [[nodiscard]] const std::vector<TuningRecord>& spot_rows() const { return spot_rows_; }
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
    /// True if record `i` came with the program.
    [[nodiscard]] bool is_shipped(std::size_t i) const { return i < num_shipped_; }

private:
    void add(TuningRecords records);

    std::vector<TuningRecord> rows_, spot_rows_;
    std::vector<std::string> complaints_;
    std::size_t num_shipped_ = 0;
};

/// Removes the records in the user's files in `folder` for which `is_gone` is true. Returns their number.
/// Keeps lines that are no records. Throws InputError if a file cannot be read or written; the file is then
/// unchanged.
std::size_t forget_records(const std::string& folder,
                           const std::function<bool(const TuningRecord& record)>& is_gone);

/// Returns the path of a device's records in `folder`, such as "FOLDER/nvidia_h200.jsonl".
std::string record_path(const std::string& folder, const DeviceIdentity& device);

}  // namespace segfold
