#pragma once
// Arrow's C data interface, by which PyArrow, polars, pandas, nanoarrow and DuckDB lend arrays of the host.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace segfold::python {

namespace nb = nanobind;

/// The type of an array, in the memory layout of Arrow's specification.
struct ArrowSchema {
    const char* format;  ///< "f": float32, "+l": lists of the only child
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

/// The memory of an array, in the layout of Arrow's specification.
struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;  ///< -1 if unknown
    std::int64_t offset;      ///< number of entries in the buffers before the first entry
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;  ///< first the validity bits, or null if there are no nulls; then values
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

/// A stream of arrays of one type, in the layout of Arrow's specification.
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

/// Owns a structure of the interface. The destructor calls the structure's `release`.
template <class T>
class ArrowOwned {
public:
    ArrowOwned() = default;
    ArrowOwned(ArrowOwned&& other) noexcept : held_(std::exchange(other.held_, {})) {}
    ArrowOwned& operator=(ArrowOwned&& other) noexcept
    {
        std::swap(held_, other.held_);
        return *this;
    }
    ~ArrowOwned()
    {
        if (held_.release != nullptr)
            held_.release(&held_);
    }
    [[nodiscard]] T* get() { return &held_; }
    [[nodiscard]] const T& operator*() const { return held_; }
    [[nodiscard]] bool is_there() const { return held_.release != nullptr; }
    /// Takes over the structure of `other`.
    void take(T& other)
    {
        std::swap(held_, other);
        other.release = nullptr;
    }

private:
    T held_{};
};

/// Reads an object that lends memory by `__arrow_c_array__` or `__arrow_c_stream__`: first its type, then its
/// arrays.
class ArrowLender {
public:
    /// Returns whether the object lends memory by Arrow's interface. A column of pandas counts only if pandas
    /// stores it as an Arrow array: other columns would lend NaN as nulls.
    [[nodiscard]] static bool is(nb::handle object);
    /// Throws InputError if the object lends nothing, or lends something that is not Arrow's.
    ArrowLender(nb::handle object, const std::string& what);

    [[nodiscard]] const ArrowSchema& schema() const { return *schema_; }
    /// Returns the arrays that have entries. Call it once. Throws InputError if the lender fails.
    [[nodiscard]] std::vector<ArrowOwned<ArrowArray>> arrays();

private:
    void take_array(nb::handle object);
    void take_stream(nb::handle object);
    [[noreturn]] void refuse_failure(int error) const;

    std::string what_;
    ArrowOwned<ArrowSchema> schema_;
    ArrowOwned<ArrowArray> array_;
    ArrowOwned<ArrowArrayStream> stream_;
};

}  // namespace segfold::python
