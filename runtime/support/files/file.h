#pragma once
// Files: read at a place, written whole or not at all.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/error.h"
#include "runtime/support/files/leftovers.h"

namespace segfold {

/// A file that cannot be opened: "PATH: cannot be opened: REASON".
class OpenError : public InputError {
public:
    /// `purpose` follows "opened", as in "for --labels"; `reason` is the system's.
    OpenError(const std::string& path, const std::string& reason, const std::string& purpose = "");

    /// The same, with the file's purpose.
    [[nodiscard]] OpenError with_purpose(const std::string& purpose) const
    {
        return {path_, reason_, purpose};
    }

private:
    std::string path_;
    std::string reason_;
};

/// The result of `read`. Messages of a file that cannot be opened tell its `purpose`, such as "for --input
/// x".
template <class Read>
auto naming_purpose(const std::string& purpose, const Read& read)
{
    try {
        return read();
    } catch (const OpenError& error) {
        throw error.with_purpose(purpose);
    }
}

/// Streams accepted in a file's place: a pipe, read to its end at once, and "-", standard input.
enum class Accepts : std::uint8_t { files, files_and_streams };

/// A file open for reading; every failure is an InputError that starts with the path.
class InputFile {
public:
    /// Throws OpenError if the file cannot be opened, InputError if it is nothing that is accepted.
    ///
    /// A named pipe waits for its writer. Standard input can be read once in a process.
    explicit InputFile(const std::string& path, Accepts accepts = Accepts::files);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// True for pipes and standard input, whose names say nothing of what they hold.
    [[nodiscard]] bool is_stream() const { return contents_ != nullptr; }

    /// Fills `into` from the bytes at `offset`; throws if the file ends before.
    void read(std::uint64_t offset, std::span<std::byte> into) const;

    /// Lets the next InputFile of this path read what a stream gave, which comes only once; call it last.
    ///
    /// Files that can be opened again need nothing.
    void keep_for_next() const;

private:
    struct Kept;
    static std::map<std::string, Kept>& kept();
    bool take_kept();
    void open_file(Accepts accepts);
    void read_stream();
    [[noreturn]] void refuse_short(std::uint64_t end) const;

    std::string path_;
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0;
    std::shared_ptr<const std::vector<std::byte>> contents_;  // of a stream
};

/// A file that appears under its name when `commit` is called, complete; without `commit` nothing is left
/// behind.
///
/// A name that already stands for something else than a regular file (a pipe, /dev/null) is written to
/// directly.
class OutputFile {
public:
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text);
    /// Bytes written until now.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    void commit();

private:
    std::string path_;       // as the caller gave it, for messages
    std::string target_;     // with symbolic links followed
    std::string temporary_;  // empty when writing directly
    std::optional<Leftover> leftover_;
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0;
};

/// The text as an OutputFile, committed. Throws InputError.
void write_whole(const std::string& path, std::string_view text);

/// Throws InputError where an OutputFile could not be begun; leaves nothing behind.
///
/// For files that are written after long work. A pipe is not opened, since its reader would take that for the
/// text.
void require_writable(const std::string& path);

/// The same for a file that is added to, whose folder need not take new files where it is there.
void require_appendable(const std::string& path);

}  // namespace segfold
