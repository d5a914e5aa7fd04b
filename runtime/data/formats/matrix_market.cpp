#include "runtime/data/formats/matrix_market.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dsl/error.h"
#include "dsl/half.h"
#include "dsl/laws/elements.h"
#include "dsl/message/suggest.h"
#include "runtime/data/formats/number_text.h"
#include "runtime/support/files/file.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

enum class EntryField { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

constexpr std::uint64_t kShortestEntry = 4;  // bytes of "1 1" and its line's end
// A file may describe far more rows than entries; past this many a row count is taken for damage.
constexpr std::int64_t kMostEmptyRows = std::int64_t{1} << 24;
constexpr std::int64_t kMostRowsPerEntry = 64;

struct Entry {
    std::int64_t row;
    std::int64_t column;
};

/// What the lines before the entries say.
struct Header {
    EntryField field = EntryField::real;
    Symmetry symmetry = Symmetry::general;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t num_entries = 0;
};

constexpr bool is_blank_or_return(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Walks over the file's lines, word by word.
class LineReader {
public:
    LineReader(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

    /// Moves to the next line; false at the end of the file.
    bool next_line()
    {
        if (rest_.empty())
            return false;
        ++number_;
        const std::size_t end = rest_.find('\n');
        line_ = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
        return true;
    }

    /// Moves to the next line with more than blanks, passing over comments if `skip_comments`.
    bool next_full_line(bool skip_comments)
    {
        while (next_line()) {
            skip_blanks();
            if (!line_.empty() && !(skip_comments && line_.front() == '%'))
                return true;
        }
        return false;
    }

    /// The next word of the line, empty at its end.
    std::string_view word()
    {
        skip_blanks();
        std::size_t size = 0;
        while (size < line_.size() && !is_blank_or_return(line_[size]))
            ++size;
        const std::string_view word = line_.substr(0, size);
        line_.remove_prefix(size);
        return word;
    }

    template <class Number>
    Number number(std::string_view what, [[maybe_unused]] Type type = Type::f64)
    {
        const std::string_view digits = word();
        last_ = digits;
        // from_chars takes no plus sign.
        const bool has_plus = digits.size() > 1 && digits[0] == '+' && digits[1] != '-';
        const std::string_view unsigned_digits = digits.substr(has_plus ? 1 : 0);
        Number value{};
        const char* last = unsigned_digits.data() + unsigned_digits.size();
        if (digits.empty())
            refuse(fmt::format("the {} is missing", what));
        if constexpr (std::is_floating_point_v<Number>)
            if (const auto rounded = rounded_float<Number>(unsigned_digits)) {
                if (std::isinf(*rounded) && is_too_large<Number>(unsigned_digits))
                    refuse_range(type);
                return *rounded;
            }
        const auto [end, error] = std::from_chars(unsigned_digits.data(), last, value);
        if (error == std::errc::result_out_of_range && end == last)
            refuse(fmt::format(
                "the {} '{}' is beyond the integers that are read, -2^63 to 2^63 - 1; save larger "
                "ones as an .npy array",
                what, digits.substr(0, 40)));
        if (error != std::errc() || end != last)
            refuse(fmt::format("the {} is '{}'; it must be {}", what, digits.substr(0, 40),
                               std::is_floating_point_v<Number> ? "a number" : "an integer of 64 bits"));
        return value;
    }

    void end_of_line()
    {
        const std::string_view more = word();
        if (!more.empty())
            refuse(fmt::format("'{}' follows where the line should end", more.substr(0, 40)));
    }

    /// Refuses the number that was read last, as a value of `type`.
    [[noreturn]] void refuse_range(Type type) const
    {
        refuse(fmt::format("the value '{}' is beyond the numbers of type {}, which holds {}",
                           last_.substr(0, 40), name(type), range_text(type)));
    }

    [[nodiscard]] std::size_t bytes_left() const { return rest_.size(); }

    [[noreturn]] void refuse(const std::string& what) const
    {
        const std::string line = number_ > 0 ? fmt::format(":{}", number_) : "";
        throw InputError(fmt::format("{}{}: {}", path_, line, what));
    }

private:
    void skip_blanks()
    {
        while (!line_.empty() && is_blank_or_return(line_.front()))
            line_.remove_prefix(1);
    }

    std::string_view rest_;
    std::string_view line_;
    std::string_view last_;  ///< the number that was read last
    const std::string& path_;
    std::int64_t number_ = 0;
};

std::string lower_case(std::string_view word)
{
    std::string lower(word);
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return lower;
}

/// The place of the next word among `known`; refuses any other.
std::size_t choose(LineReader& lines, std::string_view what, std::span<const std::string_view> known)
{
    const std::string word = lower_case(lines.word());
    const auto found = std::ranges::find(known, word);
    if (found != known.end())
        return static_cast<std::size_t>(found - known.begin());
    std::string names;
    for (const std::string_view name : known)
        names += (names.empty() ? "" : ", ") + std::string(name);
    lines.refuse(fmt::format("the {} is '{}'; it must be {}{}{}", what, word.substr(0, 40),
                             known.size() > 1 ? "one of " : "", names, did_you_mean(word, known)));
}

/// "%%MatrixMarket matrix coordinate real general"
void parse_banner(LineReader& lines, Header& header)
{
    constexpr std::array<std::string_view, 1> objects = {"matrix"}, formats = {"coordinate"};
    constexpr std::array<std::string_view, 4> fields = {"real", "integer", "pattern", "double"};
    constexpr std::array<std::string_view, 3> symmetries = {"general", "symmetric", "skew-symmetric"};
    if (!lines.next_line() || lower_case(lines.word()) != "%%matrixmarket")
        lines.refuse("is not a Matrix Market file: it does not start with '%%MatrixMarket'");
    choose(lines, "object", objects);
    choose(lines, "format", formats);
    const std::size_t field = choose(lines, "field", fields);
    header.field = field == 3 ? EntryField::real : static_cast<EntryField>(field);
    header.symmetry = static_cast<Symmetry>(choose(lines, "symmetry", symmetries));
    lines.end_of_line();
}

Header parse_header(LineReader& lines)
{
    Header header;
    parse_banner(lines, header);
    if (!lines.next_full_line(true))
        lines.refuse("the file ends before the line of rows, columns and entries");
    header.rows = lines.number<std::int64_t>("number of rows");
    header.columns = lines.number<std::int64_t>("number of columns");
    header.num_entries = lines.number<std::int64_t>("number of entries");
    lines.end_of_line();
    if (std::min({header.rows, header.columns, header.num_entries}) < 0)
        lines.refuse(fmt::format("the sizes are {}, {} and {}; none may be negative", header.rows,
                                 header.columns, header.num_entries));
    if (header.symmetry != Symmetry::general && header.rows != header.columns)
        lines.refuse(fmt::format("a symmetric matrix of {} rows and {} columns; it must be square",
                                 header.rows, header.columns));
    // The last line may lack its end.
    if (static_cast<std::uint64_t>(header.num_entries) > (lines.bytes_left() + 1) / kShortestEntry)
        lines.refuse(fmt::format("claims {} entries, more than the {} bytes that follow can hold",
                                 header.num_entries, lines.bytes_left()));
    if (header.rows > kMostEmptyRows && header.rows / kMostRowsPerEntry > header.num_entries)
        lines.refuse(
            fmt::format("claims {} rows for {} entries; at most {} rows per entry are taken for real",
                        header.rows, header.num_entries, kMostRowsPerEntry));
    return header;
}

Entry parse_place(LineReader& lines, const Header& header)
{
    const Entry entry = {lines.number<std::int64_t>("row"), lines.number<std::int64_t>("column")};
    if (entry.row < 1 || entry.row > header.rows)
        lines.refuse(
            fmt::format("row {} is outside of the matrix; rows are 1 to {}", entry.row, header.rows));
    if (entry.column < 1 || entry.column > header.columns)
        lines.refuse(fmt::format("column {} is outside of the matrix; columns are 1 to {}", entry.column,
                                 header.columns));
    if (header.symmetry != Symmetry::general && entry.column > entry.row)
        lines.refuse(
            fmt::format("entry ({}, {}) lies above the diagonal; a symmetric matrix is given by its lower "
                        "triangle",
                        entry.row, entry.column));
    if (header.symmetry == Symmetry::skew && entry.column == entry.row)
        lines.refuse(
            fmt::format("entry ({}, {}) lies on the diagonal, which is zero in a skew-symmetric matrix",
                        entry.row, entry.column));
    return {entry.row - 1, entry.column - 1};
}

/// True where `type` holds the value, rounded if need be.
template <class Value>
bool holds(Type type, Value value)
{
    if (is_float(type)) {
        if (type == Type::f64 || !std::isfinite(static_cast<double>(value)))
            return true;
        const auto rounded = static_cast<float>(value);
        return std::isfinite(rounded) && (type == Type::f32 || is_finite_as(rounded, type));
    }
    if constexpr (std::is_integral_v<Value>)
        return is_unsigned_integer(type) ? value >= 0 && std::cmp_less_equal(value, highest_integer(type))
                                         : value >= static_cast<Value>(lowest_integer(type)) &&
                                               value <= static_cast<Value>(highest_integer(type));
    throw InternalError("a fraction is read as an integer");
}

/// Reads all entries, mirrored ones included; `Value` is double or a 64-bit integer. Refuses values that
/// `type` does not hold.
template <class Value>
void parse_entries(LineReader& lines, const Header& header, Type type, std::vector<Entry>& entries,
                   std::vector<Value>& values)
{
    const std::size_t count =
        static_cast<std::size_t>(header.num_entries) * (header.symmetry == Symmetry::general ? 1 : 2);
    entries.reserve(count);
    values.reserve(count);
    for (std::int64_t i = 0; i < header.num_entries; ++i) {
        if (!lines.next_full_line(true))
            lines.refuse(
                fmt::format("the file ends after {} entries, but it claims {}", i, header.num_entries));
        const Entry entry = parse_place(lines, header);
        const Value value =
            header.field == EntryField::pattern ? Value{1} : lines.number<Value>("value", type);
        if (!holds(type, value))
            lines.refuse_range(type);
        lines.end_of_line();
        entries.push_back(entry);
        values.push_back(value);
        if (header.symmetry == Symmetry::general || entry.row == entry.column)
            continue;
        if constexpr (std::is_integral_v<Value>)
            if (header.symmetry == Symmetry::skew && value == std::numeric_limits<Value>::min())
                lines.refuse(fmt::format("the value {} has no negative of 64 bits", value));
        if (header.symmetry == Symmetry::skew && !holds(type, static_cast<Value>(-value)))
            lines.refuse(
                fmt::format("the value {} is mirrored as {} in a skew-symmetric matrix, and type {} holds {}",
                            value, static_cast<Value>(-value), name(type), range_text(type)));
        entries.push_back({entry.column, entry.row});
        values.push_back(header.symmetry == Symmetry::skew ? static_cast<Value>(-value) : value);
    }
    if (lines.next_full_line(true))
        lines.refuse(
            fmt::format("more lines follow the {} entries that the file claims", header.num_entries));
}

/// For each place in row order the entry that goes there, and where each row begins.
struct RowOrder {
    Array offsets;
    std::vector<std::size_t> entries;
};

/// Sorts by row; entries of one row keep their order.
RowOrder sort_by_row(const std::vector<Entry>& entries, std::int64_t rows)
{
    RowOrder order{Array(Type::i64, static_cast<std::size_t>(rows) + 1),
                   std::vector<std::size_t>(entries.size())};
    const auto offsets = order.offsets.as<std::int64_t>();
    std::ranges::fill(offsets, 0);
    for (const Entry& entry : entries)
        ++offsets[static_cast<std::size_t>(entry.row) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t i = 0; i < entries.size(); ++i)
        order.entries[static_cast<std::size_t>(next[static_cast<std::size_t>(entries[i].row)]++)] = i;
    return order;
}

/// One value, which the type holds, as `Element`.
template <class Element, class Value>
Element to_element(Value value, Type type)
{
    if constexpr (std::is_same_v<Element, std::uint16_t>) {
        if (type == Type::f16)
            return f32_to_f16(static_cast<float>(value));
        if (type == Type::bf16)
            return f32_to_bf16(static_cast<float>(value));
    }
    return static_cast<Element>(value);
}

template <class Value>
SparseMatrix read_rows(LineReader& lines, const Header& header, Type value_type)
{
    std::vector<Entry> entries;
    std::vector<Value> values;
    parse_entries(lines, header, value_type, entries, values);
    RowOrder order = sort_by_row(entries, header.rows);

    SparseMatrix matrix{
        header.rows, header.columns, std::move(order.offsets), {}, Array(value_type, values.size())};
    visit_storage(value_type, [&]<class Element>(std::type_identity<Element>) {
        std::ranges::transform(order.entries, matrix.values.as<Element>().begin(), [&](std::size_t entry) {
            return to_element<Element>(values[entry], value_type);
        });
    });
    const bool is_narrow = header.columns <= std::numeric_limits<std::int32_t>::max();
    matrix.column_indices = Array(is_narrow ? Type::i32 : Type::i64, entries.size());
    visit_storage(matrix.column_indices.type(), [&]<class Element>(std::type_identity<Element>) {
        std::ranges::transform(
            order.entries, matrix.column_indices.as<Element>().begin(),
            [&](std::size_t entry) { return static_cast<Element>(entries[entry].column); });
    });
    return matrix;
}

}  // namespace

SparseMatrix read_matrix_market(const std::string& path, Type value_type)
{
    const InputFile file(path, Accepts::files_and_streams);
    std::string text(static_cast<std::size_t>(file.bytes()), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    LineReader lines(text, path);
    const Header header = parse_header(lines);
    if (value_type == Type::boolean)
        throw InputError(
            fmt::format("{}: matrix values cannot be read as bool; ask for a number's type", path));
    if (header.field != EntryField::real)
        return read_rows<std::int64_t>(lines, header, value_type);
    if (!is_float(value_type))
        throw InputError(fmt::format("{}: holds real values, but {} is needed; ask for f16, bf16, f32 or f64",
                                     path, name(value_type)));
    return read_rows<double>(lines, header, value_type);
}

bool holds_integers(const std::string& path)
{
    constexpr std::uint64_t kLongestBanner = 4096;
    const InputFile file(path);
    std::string text(static_cast<std::size_t>(std::min(file.bytes(), kLongestBanner)), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    LineReader lines(text, path);
    Header header;
    parse_banner(lines, header);
    return header.field != EntryField::real;
}

}  // namespace segfold
