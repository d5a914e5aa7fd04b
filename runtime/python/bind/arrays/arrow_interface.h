#pragma once
// Arrow's C data interface, by which PyArrow, polars, pandas, nanoarrow and DuckDB lend arrays of the host.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace segfold::python {

namespace nb = nanobind;

/// The type of an array, as Arrow's specification lays it out in memory.
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

/// The memory of an array, likewise.
struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;  ///< -1: unknown
    std::int64_t offset;      ///< how many entries of the buffers lie before the first
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;  ///< bits of what is no null first, none where there are no nulls
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

/// Arrays of one type, given one after the other; likewise.
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

/// A structure of the interface; what lent it is told when it goes.
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
    /// Takes over what `other` owns.
    void take(T& other)
    {
        std::swap(held_, other);
        other.release = nullptr;
    }

private:
    T held_{};
};

/// What an object lends by `__arrow_c_array__` or `__arrow_c_stream__`: its type, then its arrays.
class ArrowLender {
public:
    /// Whether the object lends so. Columns of pandas do where they are Arrow's: others would lend NaN as
    /// nulls.
    [[nodiscard]] static bool is(nb::handle object);
    /// Throws InputError for an object that lends nothing, or something else.
    ArrowLender(nb::handle object, const std::string& what);

    [[nodiscard]] const ArrowSchema& schema() const { return *schema_; }
    /// The arrays that have entries, to be called once; throws InputError where the lender fails.
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
