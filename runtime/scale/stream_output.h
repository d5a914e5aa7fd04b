#pragma once
// Results of a stream written as they are final, and what another run needs to go on.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scale/stream.h"
#include "runtime/support/files/partial_file.h"

namespace segfold {

/// One .npy file for each result field, and one for the keys; or an .npz archive of all.
///
/// Results go to NAME.partial, and what going on needs to NAME.resume, about once a second and at the end of
/// the process's life by an error. Files get their names when all of them are complete; an archive is made of
/// them then.
class StreamOutput {
public:
    /// `path` ends in .npz, or in .npy: with one result field and no keys that is the file; else FIELD is put
    /// before the ending. Throws InputError.
    StreamOutput(const Operator& op, const std::string& path, std::optional<Type> key_type,
                 std::string fingerprint, Unfinished unfinished = Unfinished::kept);
    ~StreamOutput();

    /// Where the run that stopped has come to, if there was one; else begins anew. Throws InputError where
    /// its stream was another one.
    [[nodiscard]] std::optional<StreamState> resume();
    void take(const StreamResults& results, const StreamState& state);
    /// The same of a run that cannot go on where it stopped.
    void append(const Results& results, std::int64_t num_segments);
    /// Completes the files.
    void commit();

    /// What a run that ends now leaves, and how to go on: a sentence, empty where it leaves nothing, as
    /// before anything could be noted. `when` ends "--resume goes on from them", such as "with the same
    /// flags".
    [[nodiscard]] std::string left_behind(std::string_view when);
    [[nodiscard]] std::vector<std::string> files() const;
    /// The name under which keys are written; empty without keys.
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
    std::vector<std::string> names_;  ///< of the arrays
    std::vector<std::string> paths_;  ///< of their files; the members' of an archive get none of these names
    std::vector<Type> types_;
    std::vector<std::unique_ptr<PartialFile>> files_;
    std::int64_t num_segments_ = 0;
    std::optional<StreamState> unnoted_;  ///< the latest state, if it was not noted yet
    bool is_noted_ = false;               ///< a run can go on from what the resume file says
    std::chrono::steady_clock::time_point noted_ = std::chrono::steady_clock::now();
};

}  // namespace segfold
