#pragma once
// Files that are read at any offset, and files that are written whole or not at all.
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

/// The error for a file that cannot be opened. Its message is "PATH: cannot be opened: REASON".
class OpenError : public InputError {
public:
    /// `purpose` follows "opened" in the message, as in "for --labels". `reason` is the system's message.
    OpenError(const std::string& path, const std::string& reason, const std::string& purpose = "");

    /// Returns a copy of the error that also names the purpose of the file.
    [[nodiscard]] OpenError with_purpose(const std::string& purpose) const
    {
        return {path_, reason_, purpose};
    }

private:
    std::string path_;
    std::string reason_;
};

/// Returns the value of `read`. Adds `purpose`, such as "for --input x", to the message of an OpenError that
/// `read` throws.
template <class Read>
auto naming_purpose(const std::string& purpose, const Read& read)
{
    try {
        return read();
    } catch (const OpenError& error) {
        throw error.with_purpose(purpose);
    }
}

/// The inputs that an InputFile accepts. A stream is a pipe, or "-" for standard input. It is read to its end
/// when it is opened.
enum class Accepts : std::uint8_t { files, files_and_streams };

/// A file open for reading. Every failure throws InputError, whose message begins with the path.
class InputFile {
public:
    /// Throws OpenError if the file cannot be opened, and InputError if `accepts` excludes it.
    ///
    /// If the file is a named pipe, waits for its writer. A process can read standard input only once.
    explicit InputFile(const std::string& path, Accepts accepts = Accepts::files);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// True for pipes and standard input, whose names do not tell their format.
    [[nodiscard]] bool is_stream() const { return contents_ != nullptr; }

    /// Fills `into` with the bytes from `offset` on. Throws InputError if the file is too short.
    void read(std::uint64_t offset, std::span<std::byte> into) const;

    /// Keeps a stream for the next InputFile of this path, because a stream can be read only once. No other
    /// function may be called afterwards.
    ///
    /// Does nothing for files that can be opened again.
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
    std::shared_ptr<const std::vector<std::byte>> contents_;  // all bytes of a stream; null for a file
};

/// A file that gets its name only when commit() is called. Without this call, no file is left.
///
/// If the name belongs to something else than a regular file (a pipe, /dev/null), bytes are written to it
/// directly.
class OutputFile {
public:
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text);
    /// Number of bytes written so far.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    void commit();

private:
    std::string path_;       // path as the caller gave it, for messages
    std::string target_;     // path after symbolic links were followed
    std::string temporary_;  // path of the temporary file; empty if bytes are written directly
    std::optional<Leftover> leftover_;
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0;
};

/// Writes a file with this text, whole or not at all; see OutputFile. Throws like refuse_to_write() if that
/// fails.
void write_whole(const std::string& path, std::string_view text);

/// Throws InputError if an OutputFile cannot be written to `path`. Leaves no file.
///
/// Callers check this before long work whose result goes to `path`. A pipe is not opened, because its reader
/// would then expect the text.
void require_writable(const std::string& path);

/// Throws InputError if bytes cannot be appended to `path`. If the file exists, its folder need not be
/// writable.
void require_appendable(const std::string& path);

}  // namespace segfold
