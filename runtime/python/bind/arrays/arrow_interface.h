#pragma once
// Arrow's C data interface. PyArrow, polars, pandas, nanoarrow and DuckDB use it to share host arrays.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace segfold::python {

namespace nb = nanobind;

/// The type of an array. The memory layout is that of Arrow's specification.
struct ArrowSchema {
    const char* format;  ///< "f" is float32; "+l" is lists of the only child
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

/// The memory of an array. The memory layout is that of Arrow's specification.
struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;  ///< -1 if unknown
    std::int64_t offset;      ///< number of entries to skip at the front of the buffers
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;  ///< first the validity bits, or null if there are no nulls; then the values
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

/// A stream of arrays of one type. The memory layout is that of Arrow's specification.
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

/// Owns one of these structures. The destructor calls its `release`.
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
    /// Takes ownership of the structure in `other`.
    void take(T& other)
    {
        std::swap(held_, other);
        other.release = nullptr;
    }

private:
    T held_{};
};

/// Reads an object that supports `__arrow_c_array__` or `__arrow_c_stream__`: first its type, then its
/// arrays.
class ArrowLender {
public:
    /// True if the object supports Arrow's interface. A pandas column counts only if pandas stores it as an
    /// Arrow array, because other columns would turn NaN into nulls.
    [[nodiscard]] static bool is(nb::handle object);
    /// Throws InputError if the object does not provide a valid Arrow structure.
    ArrowLender(nb::handle object, const std::string& what);

    [[nodiscard]] const ArrowSchema& schema() const { return *schema_; }
    /// Returns the non-empty arrays. May be called only once. Throws InputError if the provider fails.
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
