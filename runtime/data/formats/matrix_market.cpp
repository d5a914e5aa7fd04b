#include "runtime/data/formats/matrix_market.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "runtime/data/formats/gzip.h"
#include "runtime/data/formats/number_text.h"
#include "runtime/support/files/file.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

enum class EntryField { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

// Number of bytes of the shortest entry ("1 1" with its newline), and of the shortest value.
constexpr std::uint64_t kShortestEntry = 4, kShortestValue = 2;
// A matrix may have far more rows than entries. A file that exceeds both of these limits counts as damaged.
constexpr std::int64_t kMostEmptyRows = std::int64_t{1} << 24;
constexpr std::int64_t kMostRowsPerEntry = 64;

struct Entry {
    std::int64_t row;
    std::int64_t column;
};

/// The contents of the lines before the entries.
struct Header {
    bool is_array = false;  ///< true if the file lists all values column by column, without coordinates
    EntryField field = EntryField::real;
    Symmetry symmetry = Symmetry::general;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t num_entries = 0;
};

constexpr bool is_blank_or_return(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Reads the file's lines, word by word.
class LineReader {
public:
    LineReader(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

    /// Moves to the next line. Returns false at the end of the file.
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

    /// Moves to the next line that is not blank. Skips comments if `skip_comments`.
    bool next_full_line(bool skip_comments)
    {
        while (next_line()) {
            skip_blanks();
            if (!line_.empty() && !(skip_comments && line_.front() == '%'))
                return true;
        }
        return false;
    }

    /// Returns the next word of the line; empty at the line's end.
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

    std::int64_t integer(std::string_view what)
    {
        const auto digits = number_word(what);
        std::int64_t value{};
        const char* last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, value);
        if (error == std::errc::result_out_of_range && end == last)
            refuse(fmt::format("the {} '{}' has more than 64 bits", what, digits.substr(0, 40)));
        if (error != std::errc() || end != last)
            refuse(fmt::format("the {} is '{}'; it must be an integer", what, last_.substr(0, 40)));
        return value;
    }

    /// Returns the next number of the line. Removes its plus sign, which the parsers of numbers do not
    /// accept.
    std::string_view number_word(std::string_view what)
    {
        auto digits = word();
        last_ = digits;
        if (digits.empty())
            refuse(fmt::format("the {} is missing", what));
        if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-')
            digits.remove_prefix(1);
        return digits;
    }

    void end_of_line()
    {
        const std::string_view more = word();
        if (!more.empty())
            refuse(fmt::format("'{}' follows where the line should end", more.substr(0, 40)));
    }

    /// Throws InputError, because the last number read is not `wanted`.
    [[noreturn]] void refuse_value(std::string_view wanted) const
    {
        refuse(fmt::format("the value is '{}'; it must be {}", last_.substr(0, 40), wanted));
    }

    /// Throws InputError, because the last number read is beyond `type`.
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
    std::string_view last_;  ///< the last number read
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

/// Returns the index of the next word in `known`. Refuses a word that is not in `known`.
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

/// Parses a line such as "%%MatrixMarket matrix coordinate real general".
void parse_banner(LineReader& lines, Header& header)
{
    constexpr std::array<std::string_view, 1> objects = {"matrix"};
    constexpr std::array<std::string_view, 2> formats = {"coordinate", "array"};
    constexpr std::array<std::string_view, 5> fields = {"real", "integer", "pattern", "double",
                                                        "unsigned-integer"};
    constexpr std::array<std::string_view, 3> symmetries = {"general", "symmetric", "skew-symmetric"};
    if (!lines.next_line() || lower_case(lines.word()) != "%%matrixmarket")
        lines.refuse("is not a Matrix Market file: it does not start with '%%MatrixMarket'");
    choose(lines, "object", objects);
    header.is_array = choose(lines, "format", formats) == 1;
    const std::size_t field = choose(lines, "field", fields);
    header.field = field == 3   ? EntryField::real
                   : field == 4 ? EntryField::integer
                                : static_cast<EntryField>(field);
    if (header.is_array && header.field == EntryField::pattern)
        lines.refuse("an array has values, and a pattern has none; the format must be coordinate");
    header.symmetry = static_cast<Symmetry>(choose(lines, "symmetry", symmetries));
    lines.end_of_line();
}

/// Returns the number of values in a file of array format; nothing if it exceeds 64 bits.
std::optional<std::uint64_t> array_values(const Header& header)
{
    auto rows = static_cast<std::uint64_t>(header.rows), columns = static_cast<std::uint64_t>(header.columns);
    if (header.symmetry != Symmetry::general)
        columns = rows + (header.symmetry == Symmetry::symmetric ? 1 : std::uint64_t{0} - (rows > 0));
    std::uint64_t count = 0;
    if (__builtin_mul_overflow(rows, columns, &count))
        return std::nullopt;
    return header.symmetry == Symmetry::general ? count : count / 2;
}

/// Refuses the file if it is too short or too sparse for the claimed sizes.
void check_claims(const LineReader& lines, const Header& header, std::optional<std::uint64_t> count)
{
    // The last line may lack a newline.
    if (!count || *count > (lines.bytes_left() + 1) / (header.is_array ? kShortestValue : kShortestEntry))
        lines.refuse(fmt::format("claims {} {}, more than the {} bytes that follow can hold",
                                 count ? fmt::format("{}", *count) : "2^64 or more",
                                 header.is_array ? "values" : "entries", lines.bytes_left()));
    if (header.rows > kMostEmptyRows && header.rows / kMostRowsPerEntry > static_cast<std::int64_t>(*count))
        lines.refuse(
            fmt::format("claims {} rows for {} entries; at most {} rows per entry are taken for real",
                        header.rows, *count, kMostRowsPerEntry));
}

Header parse_header(LineReader& lines)
{
    Header header;
    parse_banner(lines, header);
    if (!lines.next_full_line(true))
        lines.refuse(fmt::format("the file ends before the line of rows{}",
                                 header.is_array ? " and columns" : ", columns and entries"));
    header.rows = lines.integer("number of rows");
    header.columns = lines.integer("number of columns");
    if (!header.is_array)
        header.num_entries = lines.integer("number of entries");
    lines.end_of_line();
    if (std::min({header.rows, header.columns, header.num_entries}) < 0)
        lines.refuse(header.is_array ? fmt::format("the sizes are {} and {}; none may be negative",
                                                   header.rows, header.columns)
                                     : fmt::format("the sizes are {}, {} and {}; none may be negative",
                                                   header.rows, header.columns, header.num_entries));
    if (header.symmetry != Symmetry::general && header.rows != header.columns)
        lines.refuse(fmt::format("a symmetric matrix of {} rows and {} columns; it must be square",
                                 header.rows, header.columns));
    const auto count = header.is_array ? array_values(header)
                                       : std::optional(static_cast<std::uint64_t>(header.num_entries));
    check_claims(lines, header, count);
    header.num_entries = static_cast<std::int64_t>(*count);
    return header;
}

Entry parse_place(LineReader& lines, const Header& header)
{
    const Entry entry = {lines.integer("row"), lines.integer("column")};
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
    return {entry.row - 1, entry.column - 1};
}

/// Reads the values of a file as one type.
class ValueReader {
public:
    ValueReader(LineReader& lines, const Header& header, Type type)
        : lines_(lines), field_(header.field), type_(type)
    {}

    /// Returns the text of the next value. Replaces the D that Fortran writes before an exponent by E.
    std::string_view next()
    {
        if (field_ == EntryField::pattern)
            return "1";
        const auto word = lines_.number_word("value");
        const auto letter = word.find_first_of("dD");
        if (field_ == EntryField::integer || letter == word.npos)
            return word;
        text_ = word;
        text_[letter] = 'e';
        return text_;
    }

    /// Returns the bits of a value. Refuses a value beyond the type.
    std::uint64_t bits(std::string_view text)
    {
        if (field_ != EntryField::real && !is_whole_number(text))
            lines_.refuse_value("an integer");
        const auto bits = bits_of_number(text, type_);
        if (!bits && is_float(type_) && !rounded_real(text, type_))
            lines_.refuse_value("a number");
        if (!bits)
            lines_.refuse_range(type_);
        return *bits;
    }

    /// Returns the bits of the negated value.
    std::uint64_t negative_bits(std::string_view text)
    {
        const auto negative = text.starts_with('-') ? std::string(text.substr(1)) : fmt::format("-{}", text);
        if (const auto bits = bits_of_number(negative, type_))
            return *bits;
        lines_.refuse(
            fmt::format("the value {} is mirrored as {} in a skew-symmetric matrix, and type {} holds {}",
                        text, negative, name(type_), range_text(type_)));
    }

private:
    LineReader& lines_;
    EntryField field_;
    Type type_;
    std::string text_;
};

/// Entries with the bits of their values, including mirrored entries.
struct Entries {
    std::vector<Entry> places;
    std::vector<std::uint64_t> values;

    void add(Entry place, std::uint64_t value)
    {
        places.push_back(place);
        values.push_back(value);
    }
};

/// Reads the value of the entry `place`. Adds the entry and, if the matrix is symmetric, its mirrored entry.
void parse_value(LineReader& lines, const Header& header, Entry place, ValueReader& reader, Entries& entries)
{
    const auto text = reader.next();
    const auto bits = reader.bits(text);
    const bool is_diagonal = place.row == place.column;
    if (header.symmetry == Symmetry::skew && is_diagonal && rounded_real(text, Type::f64) != 0.0)
        lines.refuse(fmt::format("entry ({0}, {0}) is {1}; the diagonal of a skew-symmetric matrix is zero",
                                 place.row + 1, text));
    lines.end_of_line();
    entries.add(place, bits);
    if (header.symmetry != Symmetry::general && !is_diagonal)
        entries.add({place.column, place.row},
                    header.symmetry == Symmetry::skew ? reader.negative_bits(text) : bits);
}

/// Reads all entries. Refuses values beyond `type`.
Entries parse_entries(LineReader& lines, const Header& header, Type type)
{
    const std::size_t count =
        static_cast<std::size_t>(header.num_entries) * (header.symmetry == Symmetry::general ? 1 : 2) +
        (header.is_array ? static_cast<std::size_t>(header.rows) : 0);
    Entries entries;
    entries.places.reserve(count);
    entries.values.reserve(count);
    ValueReader reader(lines, header, type);
    std::int64_t num_read = 0;
    const auto next_line = [&] {
        if (!lines.next_full_line(true))
            lines.refuse(fmt::format("the file ends after {} {}, but it {} {}", num_read,
                                     header.is_array ? "values" : "entries",
                                     header.is_array ? "has" : "claims", header.num_entries));
        ++num_read;
    };
    for (std::int64_t column = 0; header.is_array && header.rows > 0 && column < header.columns; ++column) {
        // A skew-symmetric file omits the diagonal, which is zero. Rows of an array have all columns.
        if (header.symmetry == Symmetry::skew)
            entries.add({column, column}, 0);
        const auto first = header.symmetry == Symmetry::general ? 0
                           : header.symmetry == Symmetry::skew  ? column + 1
                                                                : column;
        for (auto row = first; row < header.rows; ++row) {
            next_line();
            parse_value(lines, header, {row, column}, reader, entries);
        }
    }
    while (!header.is_array && num_read < header.num_entries) {
        next_line();
        const auto place = parse_place(lines, header);
        parse_value(lines, header, place, reader, entries);
    }
    if (lines.next_full_line(true))
        lines.refuse(fmt::format("more lines follow the {} {} that the file {}", header.num_entries,
                                 header.is_array ? "values" : "entries", header.is_array ? "has" : "claims"));
    return entries;
}

/// The indices of the entries in row order, and for each row the position of its first entry in this order.
struct RowOrder {
    Array offsets;
    std::vector<std::size_t> entries;
};

/// Sorts entries by row. Entries of one row keep their order.
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

SparseMatrix read_rows(LineReader& lines, const Header& header, Type value_type)
{
    const auto [places, values] = parse_entries(lines, header, value_type);
    RowOrder order = sort_by_row(places, header.rows);

    SparseMatrix matrix{
        header.rows, header.columns, std::move(order.offsets), {}, Array(value_type, values.size())};
    auto* at = matrix.values.data();
    for (const auto entry : order.entries) {
        std::memcpy(at, &values[entry], size_bytes(value_type));
        at += size_bytes(value_type);
    }
    const bool is_narrow = header.columns <= std::numeric_limits<std::int32_t>::max();
    matrix.column_indices = Array(is_narrow ? Type::i32 : Type::i64, places.size());
    visit_storage(matrix.column_indices.type(), [&]<class Element>(std::type_identity<Element>) {
        std::ranges::transform(
            order.entries, matrix.column_indices.as<Element>().begin(),
            [&places = places](std::size_t entry) { return static_cast<Element>(places[entry].column); });
    });
    return matrix;
}

}  // namespace

SparseMatrix read_matrix_market(const std::string& path, Type value_type)
{
    const InputFile file(path, Accepts::files_and_streams);
    const auto text = read_text(file);
    LineReader lines(text, path);
    const Header header = parse_header(lines);
    if (value_type == Type::boolean)
        throw InputError(
            fmt::format("{}: matrix values cannot be read as bool; ask for a number's type", path));
    if (header.field == EntryField::real && !is_float(value_type))
        throw InputError(fmt::format("{}: holds real values, but {} is needed; ask for f16, bf16, f32 or f64",
                                     path, name(value_type)));
    return read_rows(lines, header, value_type);
}

bool holds_integers(const std::string& path)
{
    constexpr std::uint64_t kLongestBanner = 4096;
    const InputFile file(path);
    const auto text = read_text(file, kLongestBanner);
    LineReader lines(text, path);
    Header header;
    parse_banner(lines, header);
    return header.field != EntryField::real;
}

}  // namespace segfold
