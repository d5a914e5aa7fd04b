#pragma once
// Arrays that are read in parts. They are files, arrays in memory, or made on demand.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dsl/array.h"
#include "runtime/data/resolve.h"

namespace segfold {

/// A one-dimensional array that is read in parts. Only one thread at a time may read it unless
/// reads_in_parallel() is true.
class ArraySource {
public:
    virtual ~ArraySource() = default;
    [[nodiscard]] virtual Type type() const = 0;
    /// Number of elements; empty if it is unknown before the end is read.
    [[nodiscard]] virtual std::optional<std::int64_t> length() const = 0;
    /// Fills `into` with the elements from `begin` on, and returns their number. The number is less than the
    /// length of `into` only at the end of an array of unknown length. Throws InputError if the elements
    /// cannot be read.
    virtual std::int64_t read(std::int64_t begin, Array& into) = 0;
    /// Address of the elements from `begin` on, valid while the source lives; null if they must be read by
    /// read().
    [[nodiscard]] virtual const std::byte* lent(std::int64_t begin) const
    {
        (void)begin;
        return nullptr;
    }
    /// Address of the elements from `begin` on if they lie in the memory of the GPU that folds the stream;
    /// null if they do not. Elements on the GPU are neither read nor lent.
    [[nodiscard]] virtual const std::byte* on_device(std::int64_t begin) const
    {
        (void)begin;
        return nullptr;
    }
    /// Called at most once, at the end, with the number of elements read so far as `begin`. Returns true if
    /// another element follows. A source of known length may return false without checking.
    [[nodiscard]] virtual bool has_more(std::int64_t begin)
    {
        (void)begin;
        return false;
    }
    /// True if several threads may read parts at the same time, in any order.
    [[nodiscard]] virtual bool reads_in_parallel() const { return false; }
    /// True if parts must be read in order, each once.
    [[nodiscard]] bool is_read_in_order() const { return lent(0) == nullptr && !reads_in_parallel(); }
    /// The name of the array in messages, such as the path of a file.
    [[nodiscard]] virtual std::string where() const = 0;
    /// Text that identifies the array, so that a resumed run notices a different input. For a file it has the
    /// path, length, time, and a hash of the file's ends. For an array in memory it has a hash of all
    /// elements.
    [[nodiscard]] virtual std::string fingerprint() const = 0;
    /// Sets the role of the array in messages, such as "column 'x'".
    void set_role(std::string role) { role_ = std::move(role); }
    [[nodiscard]] const std::string& role() const { return role_; }

private:
    std::string role_;
};

/// Opens an .npy file. Reads its header now and its elements on demand.
///
/// If `asked` is given, elements must be of this type. Throws InputError if read_open_npy() refuses the file.
/// A later read throws InputError if the file has become too short.
[[nodiscard]] std::unique_ptr<ArraySource> npy_source(const std::string& path,
                                                      std::optional<Type> asked = {});

/// Returns a source that reads an array in memory. `array` must outlive the source.
[[nodiscard]] std::unique_ptr<ArraySource> memory_source(const Array& array);
/// Returns a source that owns and reads an array in memory.
[[nodiscard]] std::unique_ptr<ArraySource> memory_source(Array&& array);

/// Returns a source that computes the values of generate_values(). Its parts may be read in any order.
[[nodiscard]] std::unique_ptr<ArraySource> values_source(Type type, std::int64_t length, std::uint64_t seed,
                                                         ValueRange range);

/// A function that fills the array with the next elements and returns their number, which is less than the
/// array's length only at the end.
using MakeElements = std::function<std::int64_t(Array& into)>;

/// Returns a source of the elements that `make` makes, part by part.
///
/// If `length` is empty, the number of elements is unknown. `has_more` tells whether another element would
/// follow. If both are empty, the source makes one more element to find out.
[[nodiscard]] std::unique_ptr<ArraySource> generated_source(Type type, MakeElements make,
                                                            std::optional<std::int64_t> length = {},
                                                            std::function<bool()> has_more = {});

}  // namespace segfold
