#pragma once
// Where records are kept: a user's own, and those that come with the program.
#include <string>
#include <vector>

#include "runtime/session/choice/record.h"

namespace segfold {

/// The folder of a user's records: $SEGFOLD_TUNING_DIR, else $XDG_DATA_HOME/segfold/tuning, else
/// ~/.local/share/segfold/tuning; empty where none of these says anything.
std::string record_folder();

/// Appends rows to a file, each safely on the disk before `append` returns.
class RecordFile {
public:
    /// Makes missing folders. Ends a last line that was cut off, so that no new row joins it. Throws
    /// InputError.
    explicit RecordFile(std::string path);
    ~RecordFile();
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    /// Throws InputError.
    void append(const TuningRecord& record);
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    int descriptor_ = -1;
};

/// All rows that there are, a user's own after those of the program.
class RecordStore {
public:
    /// The records that came with the program, and those of `folder`; an empty one is none. A folder or file
    /// that cannot be read is a complaint. What came with the program is of GPUs: whoever asks for the host
    /// alone does without it. To read it takes longer than all else that a short run of the host does.
    static RecordStore open(const std::string& folder, bool for_host = false);
    /// The given rows alone.
    static RecordStore of(std::vector<TuningRecord> rows);

    [[nodiscard]] const std::vector<TuningRecord>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
    /// Whether row `i` came with the program.
    [[nodiscard]] bool is_shipped(std::size_t i) const { return i < num_shipped_; }

private:
    void add(TuningRecords records);

    std::vector<TuningRecord> rows_;
    std::vector<std::string> complaints_;
    std::size_t num_shipped_ = 0;
};

/// The file of a device's rows in `folder`: "nvidia_h200.jsonl".
std::string record_path(const std::string& folder, const DeviceIdentity& device);

}  // namespace segfold
