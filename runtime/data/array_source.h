#pragma once
// Arrays that are read in parts: files, memory, and elements that a caller makes on demand.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dsl/array.h"
#include "runtime/data/resolve.h"

namespace segfold {

/// A one-dimensional array that is read in parts, by one thread at a time unless it says otherwise.
class ArraySource {
public:
    virtual ~ArraySource() = default;
    [[nodiscard]] virtual Type type() const = 0;
    /// Elements; nothing where only reading them tells.
    [[nodiscard]] virtual std::optional<std::int64_t> length() const = 0;
    /// Fills `into` with the elements from `begin` on; gives how many there were, which is fewer only at the
    /// end of an array whose length is not known. Throws InputError where they cannot be read.
    virtual std::int64_t read(std::int64_t begin, Array& into) = 0;
    /// Where the elements from `begin` on lie in memory while the source lives; null where they must be read.
    [[nodiscard]] virtual const std::byte* lent(std::int64_t begin) const
    {
        (void)begin;
        return nullptr;
    }
    /// The same in the memory of the GPU on which the stream folds: what lies there is neither read nor lent.
    [[nodiscard]] virtual const std::byte* on_device(std::int64_t begin) const
    {
        (void)begin;
        return nullptr;
    }
    /// Whether there is an element behind the last one that was asked for, `begin`; asked for once, where all
    /// others have been read. Of a known length the source is believed if it cannot tell.
    [[nodiscard]] virtual bool has_more(std::int64_t begin)
    {
        (void)begin;
        return false;
    }
    /// Whether several threads may read parts at the same time, in any order.
    [[nodiscard]] virtual bool reads_in_parallel() const { return false; }
    /// Its name for messages, e.g. a file's.
    [[nodiscard]] virtual std::string where() const = 0;
    /// What tells it from another one, as far as that is known without reading files: their names, sizes and
    /// times, and the elements of what is in memory, which are looked at for it.
    [[nodiscard]] virtual std::string fingerprint() const = 0;
    /// The array's name in messages if nothing else tells it from others: "column 'x'".
    void set_role(std::string role) { role_ = std::move(role); }
    [[nodiscard]] const std::string& role() const { return role_; }

private:
    std::string role_;
};

/// An .npy file, of which the header is read now and elements when they are asked for.
///
/// Elements must be of `asked`, where that is given. Refuses what read_open_npy() refuses; a file that gets
/// shorter meanwhile is refused when that is noticed.
[[nodiscard]] std::unique_ptr<ArraySource> npy_source(const std::string& path,
                                                      std::optional<Type> asked = {});

/// An array in memory, borrowed.
[[nodiscard]] std::unique_ptr<ArraySource> memory_source(const Array& array);
/// The same, kept by the source.
[[nodiscard]] std::unique_ptr<ArraySource> memory_source(Array&& array);

/// The values that generate_values() makes, in any part.
[[nodiscard]] std::unique_ptr<ArraySource> values_source(Type type, std::int64_t length, std::uint64_t seed,
                                                         ValueRange range);

/// Makes the next elements: fills the array from its begin, and gives how many it has filled; fewer than
/// there is room for at the end alone.
using MakeElements = std::function<std::int64_t(Array& into)>;

/// What `make` makes, called for one part after the other. `length` may be left open. `has_more` tells
/// whether another element would come; without it one is made to see that, where the length is open.
[[nodiscard]] std::unique_ptr<ArraySource> generated_source(Type type, MakeElements make,
                                                            std::optional<std::int64_t> length = {},
                                                            std::function<bool()> has_more = {});

}  // namespace segfold
