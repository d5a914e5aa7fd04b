#pragma once
// Writes a stream's results to files, and a state from which another run can resume the stream.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scale/stream.h"
#include "runtime/support/files/partial_file.h"

namespace segfold {

/// Writes one .npy file for each result field, for each output and for the keys, or an .npz archive of all
/// arrays. Without results of segments, keys are written only to an archive.
///
/// Writes results to NAME.partial. Writes the resume state to NAME.resume about once a second, and when an
/// error ends the run. When all files are complete, they get their final names or are packed into the
/// archive.
class StreamOutput {
public:
    /// `path` ends in .npz or in .npy. If there is more than one array, .FIELD is put before .npy. Throws
    /// InputError if a file cannot be made.
    StreamOutput(const Operator& op, const std::string& path, std::optional<Type> key_type,
                 std::string fingerprint, Unfinished unfinished = Unfinished::kept);
    ~StreamOutput();

    /// Returns the state that a stopped run has left. If there is none, returns nothing, and the output
    /// begins anew. Throws InputError for the state of another stream.
    [[nodiscard]] std::optional<StreamState> resume();
    void take(const StreamResults& results, const StreamState& state);
    /// Writes running results and keys at their final positions, without a resume state. The first call must
    /// have the results that end the files.
    void put(const StreamResults& results);
    /// Writes results of the next segments, and running results of the next elements, without a resume state.
    void append(const Results& results, std::int64_t num_segments, const Results& running = {},
                std::int64_t num_elements = 0);
    /// Completes the files: gives them their final names, or packs them into the archive.
    void commit();

    /// Returns a sentence for the case that the run ends now. It names the files that remain and tells how to
    /// resume; it is empty if no files remain. `when` completes "--resume goes on from them", for example
    /// "with the same flags".
    [[nodiscard]] std::string left_behind(std::string_view when);
    [[nodiscard]] std::vector<std::string> files() const;
    /// The name of the array of keys; empty without keys.
    [[nodiscard]] const std::string& keys() const { return keys_; }
    [[nodiscard]] std::int64_t num_segments() const { return num_segments_; }

private:
    void open(const std::vector<std::uint64_t>& kept_bytes);
    void note(const StreamState& state);
    void note_the_rest();
    void write_archive();

    std::string path_;
    std::string resume_path_;
    std::string fingerprint_;
    Unfinished unfinished_;
    bool is_archive_;
    std::string keys_;
    std::vector<std::string> names_;  ///< names of the arrays in `paths_`
    std::vector<std::string> paths_;  ///< paths of the arrays' files; temporary files for an archive
    std::vector<Type> types_;
    std::vector<std::unique_ptr<PartialFile>> files_;
    /// Number of arrays with results of segments. They come first; the arrays of outputs follow, then the
    /// keys.
    std::size_t num_fields_ = 0;
    std::size_t num_outputs_ = 0;
    std::int64_t num_segments_ = 0, num_elements_ = 0;
    std::optional<StreamState> unnoted_;  ///< the latest state, if the resume file does not have it
    bool is_noted_ = false;               ///< true if the resume file has a state
    std::chrono::steady_clock::time_point noted_ = std::chrono::steady_clock::now();
};

}  // namespace segfold
