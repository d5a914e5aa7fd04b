#include "runtime/python/bind/arrays/arrow_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "dsl/error.h"
#include "runtime/python/bind/arrays/array_refusals.h"
#include "runtime/python/bind/arrays/arrow_form.h"
#include "runtime/session/borrowed.h"
#include "runtime/support/text_table.h"

namespace segfold::python {
namespace {

using Lists = ArrowLists::Kind;

/// An Arrow array whose memory another library owns. Every part of the array is checked before it is read.
class Chunk {
public:
    Chunk(const ArrowArray& array, const std::string& what) : array_(&array), what_(&what)
    {
        std::int64_t end = 0;
        if (array.length < 0 || array.offset < 0 ||
            __builtin_add_overflow(array.offset, array.length, &end) || end > kMostLentElements)
            refuse_wrong(fmt::format("{} entries lie behind {} others", array.length, array.offset));
        if (array.n_buffers > 0 && array.buffers == nullptr)
            refuse_wrong(fmt::format("{} buffers are missing", array.n_buffers));
    }

    [[nodiscard]] std::int64_t length() const { return array_->length; }
    [[nodiscard]] std::int64_t offset() const { return array_->offset; }
    [[nodiscard]] Chunk child() const
    {
        if (array_->n_children != 1 || array_->children == nullptr || array_->children[0] == nullptr)
            refuse_wrong(fmt::format("lists have {} children", array_->n_children));
        return {*array_->children[0], *what_};
    }
    /// Returns buffer `number`, with values of `width` bytes. The pointer is to the first entry's value.
    [[nodiscard]] const std::byte* bytes(std::int64_t number, std::size_t width) const
    {
        const auto* const begin = static_cast<const std::byte*>(buffer(number));
        if (begin == nullptr)
            refuse_wrong(fmt::format("buffer {} of {} entries is missing", number, length()));
        return begin + static_cast<std::size_t>(offset()) * width;
    }
    /// Returns buffer `number`, with offsets or lengths of lists. The pointer is to the first entry's value.
    template <class Index>
    [[nodiscard]] const Index* indices(std::int64_t number) const
    {
        const auto* const begin = bytes(number, sizeof(Index));
        if (reinterpret_cast<std::uintptr_t>(begin) % alignof(Index) != 0)
            refuse_wrong(
                fmt::format("buffer {} does not begin at a multiple of {} bytes", number, alignof(Index)));
        return reinterpret_cast<const Index*>(begin);
    }
    [[nodiscard]] bool is_valid(std::int64_t entry) const
    {
        const auto* const bits = validity();
        return bits == nullptr || is_set(bits, offset() + entry);
    }
    /// Returns the number of nulls among entries `begin` to `begin` + `count` - 1.
    [[nodiscard]] std::int64_t num_nulls(std::int64_t begin, std::int64_t count) const
    {
        const auto* const bits = validity();
        if (bits == nullptr)
            return 0;
        std::int64_t at = offset() + begin, valid = 0;
        const auto end = at + count;
        for (; at < end && at % 8 != 0; ++at)
            valid += is_set(bits, at);
        for (; at + 8 <= end; at += 8)
            valid += std::popcount(bits[at / 8]);
        for (; at < end; ++at)
            valid += is_set(bits, at);
        return count - valid;
    }
    void require_within(std::int64_t begin, std::int64_t end) const
    {
        if (begin < 0 || end < begin || end > length())
            refuse_wrong(fmt::format("a list lies from {} to {} of {} elements", begin, end, length()));
    }
    /// Throws InputError if there are fewer entries than in `num_lists` lists of length `width`.
    void require_lists(std::int64_t num_lists, std::int64_t width) const
    {
        std::int64_t end = 0;
        if (__builtin_mul_overflow(num_lists, width, &end) || end > length())
            refuse_wrong(fmt::format("{} lists of {} have {} elements", num_lists, width, length()));
    }
    [[noreturn]] void refuse_wrong(const std::string& why) const
    {
        refuse(*what_, "lends arrays of Arrow that are wrong: " + why);
    }

private:
    static bool is_set(const std::uint8_t* bits, std::int64_t at)
    {
        return (bits[at / 8] >> at % 8 & 1) != 0;
    }
    [[nodiscard]] const void* buffer(std::int64_t number) const
    {
        return number < array_->n_buffers ? array_->buffers[number] : nullptr;
    }
    [[nodiscard]] const std::uint8_t* validity() const
    {
        return array_->null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(buffer(0));
    }

    const ArrowArray* array_;
    const std::string* what_;
};

/// Collects the elements of chunks, and the ends of their lists.
class Gathering {
public:
    Gathering(const std::vector<Chunk>& chunks, const ArrowForm& form)
        : form_(form), is_alone_(chunks.size() == 1)
    {
        is_uniform_ = form.lists.kind == Lists::fixed && form.lists.width > 0;
        for (const auto& chunk : chunks)
            is_uniform_ = is_uniform_ && chunk.num_nulls(0, chunk.length()) == 0;
        for (const auto& chunk : chunks)
            add(chunk);
    }

    /// Returns the number of entries (numbers or rows), including entries of lists.
    [[nodiscard]] std::int64_t num_entries() const { return num_entries_; }
    [[nodiscard]] std::int64_t num_nulls() const { return num_nulls_; }
    /// True if the elements are contiguous. They then begin at first().
    [[nodiscard]] bool is_one_piece() const { return pieces_.size() <= 1; }
    [[nodiscard]] const void* first() const { return pieces_.empty() ? nullptr : pieces_.front().data; }
    [[nodiscard]] Array copied() const
    {
        std::size_t bytes = 0;
        for (const auto& piece : pieces_)
            bytes += piece.bytes;
        Array elements(form_.type, bytes / size_bytes(form_.type));
        auto* into = elements.data();
        const nb::gil_scoped_release released;
        for (const auto& piece : pieces_) {
            std::memcpy(into, piece.data, piece.bytes);
            into += piece.bytes;
        }
        return elements;
    }
    /// Returns the lists as segments of the elements. If no chunk's offsets can be used, writes new offsets
    /// to `made`.
    [[nodiscard]] SegmentsView segments(Array& made) const
    {
        if (is_uniform_)
            return uniform(form_.lists.width);
        if (lent_offsets_.data != nullptr)
            return offsets(lent_offsets_);
        made = Array(Type::i64, ends_.size() + 1);
        made.as<std::int64_t>()[0] = 0;
        std::ranges::copy(ends_, made.as<std::int64_t>().begin() + 1);
        return offsets(view_of(made));
    }

private:
    struct Piece {
        const std::byte* data;
        std::size_t bytes;
    };

    void add(const Chunk& chunk)
    {
        if (form_.lists.kind == Lists::none)
            return add_entries(chunk, 0, chunk.length());
        const auto entries = chunk.child();
        if (form_.lists.kind == Lists::fixed)
            return add_fixed(chunk, entries);
        if (form_.lists.is_large)
            return add_lists<std::int64_t>(chunk, entries);
        add_lists<std::int32_t>(chunk, entries);
    }
    template <class Index>
    void add_lists(const Chunk& chunk, const Chunk& entries)
    {
        const auto* const begins = chunk.indices<Index>(1);
        if (form_.lists.kind == Lists::views) {
            const auto* const sizes = chunk.indices<Index>(2);
            for (std::int64_t i = 0; i < chunk.length(); ++i) {
                std::int64_t end = 0;
                if (__builtin_add_overflow(std::int64_t{begins[i]}, std::int64_t{sizes[i]}, &end))
                    end = -1;
                add_list(chunk, entries, i, begins[i], end);
            }
        } else if (is_alone_ && begins[0] == 0 && chunk.num_nulls(0, chunk.length()) == 0) {
            entries.require_within(0, begins[chunk.length()]);
            add_entries(entries, 0, begins[chunk.length()]);
            lent_offsets_ =
                ArrayView(form_.lists.is_large ? Type::i64 : Type::i32, begins, chunk.length() + 1);
        } else {
            for (std::int64_t i = 0; i < chunk.length(); ++i)
                add_list(chunk, entries, i, begins[i], begins[i + 1]);
        }
    }
    void add_fixed(const Chunk& chunk, const Chunk& entries)
    {
        const auto width = form_.lists.width;
        const auto num_lists = chunk.offset() + chunk.length();
        entries.require_lists(num_lists, width);
        if (is_uniform_)
            return add_entries(entries, chunk.offset() * width, chunk.length() * width);
        for (std::int64_t i = 0; i < chunk.length(); ++i)
            add_list(chunk, entries, i, (chunk.offset() + i) * width, (chunk.offset() + i + 1) * width);
    }
    /// Adds a list. A null list gets no elements, even if its offsets span some.
    void add_list(const Chunk& chunk, const Chunk& entries, std::int64_t i, std::int64_t begin,
                  std::int64_t end)
    {
        if (chunk.is_valid(i)) {
            entries.require_within(begin, end);
            add_entries(entries, begin, end - begin);
        }
        ends_.push_back(num_entries_);
    }
    void add_entries(const Chunk& entries, std::int64_t begin, std::int64_t count)
    {
        num_entries_ += count;
        if (count == 0)
            return;
        if (form_.num_features == 0)
            return add_numbers(entries, begin, count);
        num_nulls_ += entries.num_nulls(begin, count);
        const auto numbers = entries.child();
        numbers.require_lists(entries.offset() + begin + count, form_.num_features);
        add_numbers(numbers, (entries.offset() + begin) * form_.num_features, count * form_.num_features);
    }
    void add_numbers(const Chunk& numbers, std::int64_t begin, std::int64_t count)
    {
        num_nulls_ += numbers.num_nulls(begin, count);
        const auto width = size_bytes(form_.type);
        const auto* const data = numbers.bytes(1, width) + static_cast<std::size_t>(begin) * width;
        const auto bytes = static_cast<std::size_t>(count) * width;
        if (!pieces_.empty() && pieces_.back().data + pieces_.back().bytes == data)
            pieces_.back().bytes += bytes;
        else
            pieces_.push_back({data, bytes});
    }

    const ArrowForm& form_;
    bool is_alone_;
    bool is_uniform_ = false;
    ArrayView lent_offsets_;
    std::vector<Piece> pieces_;
    std::vector<std::int64_t> ends_;
    std::int64_t num_entries_ = 0;
    std::int64_t num_nulls_ = 0;
};

/// Returns the index after the last element of list `list`.
std::int64_t end_of(const SegmentsView& segments, std::int64_t list)
{
    if (segments.kind == LayoutKind::uniform)
        return segments.uniform_length * (list + 1);
    if (segments.first.type == Type::i32)
        return static_cast<const std::int32_t*>(segments.first.data)[list + 1];
    return static_cast<const std::int64_t*>(segments.first.data)[list + 1];
}

std::int64_t num_lists(const ArrayIn& array)
{
    const auto& segments = *array.lists();
    return segments.kind == LayoutKind::uniform ? array.num_entries() / segments.uniform_length
                                                : segments.first.length - 1;
}

/// Throws InputError if two arrays differ in the number or the lengths of their lists.
void require_same_lists(const std::string& what, const ArrayIn& array, const std::string& first_what,
                        const ArrayIn& first)
{
    const auto count = num_lists(array);
    if (count != num_lists(first))
        throw InputError(fmt::format("'{}' has {} and '{}' {}; the columns of a call have the same lists",
                                     what, count_text(count, "list"), first_what, num_lists(first)));
    for (std::int64_t list = 0, begin = 0; list < count; ++list) {
        const auto end = end_of(*array.lists(), list), wanted = end_of(*first.lists(), list);
        if (end != wanted)
            throw InputError(fmt::format(
                "list {} of '{}' has {} and that of '{}' {}; the columns of a call have the same lists", list,
                what, count_text(end - begin, "element"), first_what, wanted - begin));
        begin = end;
    }
}

}  // namespace

ArrowIn::ArrowIn(nb::handle object, const std::string& what, Holds holds)
{
    ArrowLender lender(object, what);
    const auto form = form_of_arrow(lender.schema(), object, what, holds);
    lent = lender.arrays();
    std::vector<Chunk> chunks;
    for (const auto& array : lent)
        chunks.emplace_back(*array, what);
    const Gathering gathering(chunks, form);
    if (gathering.num_nulls() != 0)
        refuse_arrow_nulls(form, gathering.num_nulls(), object, what);
    type = form.type;
    sizes = {gathering.num_entries()};
    if (form.num_features != 0)
        sizes.push_back(form.num_features);
    require_countable(what, sizes);
    data = gathering.first();
    if (form.lists.kind != Lists::none)
        segments = gathering.segments(offsets);
    if (gathering.is_one_piece())
        return;
    elements = gathering.copied();
    data = elements.data();
    lent.clear();
}

const SegmentsView* common_lists(const Operator& op, std::span<const ArrayIn* const> arrays,
                                 std::string_view word)
{
    const ArrayIn* first = nullptr;
    std::string first_name, plain;
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& [name, array] = std::pair(op.parameters[i].name, arrays[i]);
        if (array == nullptr || array->lists() == nullptr) {
            if (!op.parameters[i].table)
                plain = name;
        } else if (op.parameters[i].table) {
            throw InputError(
                fmt::format("'{}' holds lists, and a table has none; give its elements alone, {}", name,
                            arrow_elements(array->object(), name)));
        } else if (first == nullptr) {
            first = array;
            first_name = name;
        } else {
            require_same_lists(name, *array, first_name, *first);
        }
    }
    if (first == nullptr)
        return nullptr;
    if (!word.empty())
        throw InputError(fmt::format(
            "'{}' holds lists, which are its segments, and {}= gives segments too; leave that out, or "
            "give the elements alone, {}",
            first_name, word, arrow_elements(first->object(), first_name)));
    if (!plain.empty())
        throw InputError(
            fmt::format("'{}' holds lists and '{}' does not; give lists for both, or both without them: {}",
                        first_name, plain, arrow_lists_apart(first->object(), first_name)));
    return first->lists();
}

void require_no_offsets_of_lists(std::span<const ArrayIn* const> columns, const ArrayIn& marks,
                                 std::string_view word)
{
    const auto is_arrow = [](const ArrayIn* array) { return array != nullptr && array->is_arrow(); };
    if (marks.is_arrow() && std::ranges::any_of(columns, is_arrow))
        throw InputError(
            fmt::format("{0}= are Arrow's, and so are the elements; those of a list array count what null "
                        "lists hide: give the lists themselves, as in sf.standard.sum(lists). Other {0} "
                        "are given as NumPy's: {0}.to_numpy()",
                        word));
}

}  // namespace segfold::python
