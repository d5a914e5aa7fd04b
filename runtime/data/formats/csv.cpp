#include "runtime/data/formats/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <vector>

#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "dsl/message/visible.h"
#include "dsl/rounding.h"
#include "runtime/data/formats/gzip.h"
#include "runtime/data/formats/number_text.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/refuse.h"
#include "runtime/support/text_table.h"

#ifdef SEGFOLD_CSV
#include <csv.h>
#endif

namespace segfold {
namespace {

constexpr std::size_t kShown = 40;

/// A function that receives a cell and the number of its row. The row after the line of names is row 1.
using UseCell = std::function<void(std::string_view cell, std::int64_t row)>;

#ifdef SEGFOLD_CSV

/// Passes the cells of one column to `use`. The CSV parser is written in C. So an exception of `use` is
/// stored, and rethrown when the parser has returned.
class ColumnReader {
public:
    ColumnReader(const std::string& path, const std::optional<std::string>& column, const UseCell& use)
        : path_(path), column_(column), use_(use)
    {
        if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0)
            throw InternalError("csv_init failed");
    }
    ~ColumnReader() { csv_free(&parser_); }
    ColumnReader(const ColumnReader&) = delete;
    ColumnReader& operator=(const ColumnReader&) = delete;

    void read(std::string_view text)
    {
        constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
        constexpr std::size_t kChunk = std::size_t{1} << 16;
        if (text.starts_with(kByteOrderMark))
            text.remove_prefix(kByteOrderMark.size());
        while (!text.empty()) {
            const auto part = text.substr(0, kChunk);
            if (csv_parse(&parser_, part.data(), part.size(), take_cell, take_row, this) != part.size())
                refuse_quotes();
            rethrow();
            text.remove_prefix(part.size());
        }
        if (csv_fini(&parser_, take_cell, take_row, this) != 0)
            refuse_quotes();
        rethrow();
        if (names_.empty())
            refuse(path_, "is empty; its first line must name the columns");
    }

private:
    static void take_cell(void* cell, std::size_t bytes, void* reader)
    {
        auto& self = *static_cast<ColumnReader*>(reader);
        self.guarded([&] { self.add_cell({static_cast<const char*>(cell), bytes}); });
    }

    static void take_row(int end, void* reader)
    {
        auto& self = *static_cast<ColumnReader*>(reader);
        self.guarded([&] { self.end_row(end); });
    }

    template <class Action>
    void guarded(const Action& action)
    {
        if (failure_)
            return;
        try {
            action();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    void rethrow() const
    {
        if (failure_)
            std::rethrow_exception(failure_);
    }

    void add_cell(std::string_view cell)
    {
        if (row_ == 0)
            names_.emplace_back(cell);
        else if (num_cells_ == wanted_)
            cell_ = cell;
        ++num_cells_;
    }

    void end_row(int end)
    {
        const bool is_second_end = end == '\n' && last_end_ == '\r' && num_cells_ == 0;
        last_end_ = end;
        if (is_second_end)
            return;
        if (num_cells_ == 0 && names_.size() == 1 && row_ > 0) {
            cell_.clear();
            num_cells_ = 1;
        }
        if (num_cells_ == 0)
            return;
        if (row_ == 0)
            wanted_ = place_of_column();
        else if (num_cells_ != names_.size())
            refuse(path_,
                   fmt::format("row {} has {}, and the line of names has {}; they must agree", row_,
                               count_text(static_cast<std::int64_t>(num_cells_), "cell"), names_.size()));
        else
            use_(cell_, row_);
        ++row_;
        num_cells_ = 0;
    }

    [[nodiscard]] std::size_t place_of_column() const
    {
        const auto all = visible(fmt::format("{}", fmt::join(names_, ", ")));
        if (!column_ && names_.size() != 1)
            refuse(path_, fmt::format("has {} columns, {}; choose one, as in {}:{}", names_.size(), all,
                                      path_, visible(names_.front())));
        const auto found = column_ ? std::ranges::find(names_, *column_) : names_.begin();
        if (found == names_.end()) {
            const std::vector<std::string_view> known(names_.begin(), names_.end());
            refuse(path_, fmt::format("has no column '{}'; its columns are {}{}", visible(*column_), all,
                                      did_you_mean(*column_, known)));
        }
        if (column_ && std::ranges::count(names_, *column_) > 1)
            refuse(path_, fmt::format("has two columns named '{}'; names must differ", visible(*column_)));
        return static_cast<std::size_t>(found - names_.begin());
    }

    [[noreturn]] void refuse_quotes()
    {
        rethrow();
        if (csv_error(&parser_) == CSV_ENOMEM)
            throw std::bad_alloc();
        refuse(path_,
               fmt::format("{}: a quotation mark stands where none may: a cell with one begins and ends with "
                           "quotation marks, and doubles those inside",
                           row_ == 0 ? "the line of names" : fmt::format("row {}", row_)));
    }

    const std::string& path_;
    const std::optional<std::string>& column_;
    const UseCell& use_;
    csv_parser parser_ = {};
    std::exception_ptr failure_;
    std::vector<std::string> names_;
    std::size_t wanted_ = 0;
    std::string cell_;
    std::size_t num_cells_ = 0;  ///< number of cells of the current row so far
    std::int64_t row_ = 0;       ///< 0 for the line of names
    int last_end_ = 0;
};

void read_cells(const std::string& path, const std::optional<std::string>& column, const UseCell& use)
{
    const auto text = read_text(InputFile(path, Accepts::files_and_streams));
    ColumnReader(path, column, use).read(text);
}

#else

void read_cells(const std::string& path, const std::optional<std::string>&, const UseCell&)
{
    refuse(
        path,
        "this build reads no .csv files: libcsv (Debian: libcsv-dev) was missing where it was made; save the "
        "column with numpy.save");
}

#endif

/// Returns 1 for the word "true" and 0 for "false", in any case of letters; -1 for other text.
int truth_of(std::string_view cell)
{
    std::string lower(cell);
    for (char& c : lower)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower == "true" ? 1 : lower == "false" ? 0 : -1;
}

/// Removes a plus sign, which the parsers of numbers do not accept.
std::string_view without_plus(std::string_view cell)
{
    return cell.size() > 1 && cell[0] == '+' && cell[1] != '-' ? cell.substr(1) : cell;
}

/// Returns the reason, for a message, why the cell is no value of the type.
std::string misfit(std::string_view cell, Type type)
{
    const auto shown = visible(std::string(cell.substr(0, kShown)) + (cell.size() > kShown ? "..." : ""));
    if (cell.empty())
        return fmt::format(
            "is blank, and type {} has no value for that; let the operator take f64, where a blank "
            "is NaN, or fill it",
            name(type));
    const auto number = without_plus(cell);
    if (type != Type::boolean && (is_whole_number(number) || (is_float(type) && rounded_real(number, type))))
        return fmt::format("is {}, beyond the numbers of type {}, which holds {}", shown, name(type),
                           range_text(type));
    if (type != Type::boolean && rounded_real(number, Type::f64))
        return fmt::format("is {}, which is no value of type {}; let the operator take f64", shown,
                           name(type));
    return fmt::format(
        "is '{}', which is no {}; texts become numbers by numpy.unique(column, "
        "return_inverse=True), others by a column that holds numbers alone",
        shown, type == Type::boolean ? "true, false, 1 or 0" : "number");
}

/// Returns the bits of a cell's value in `type`; nothing if the type has no such value.
std::optional<std::uint64_t> bits_of_cell(std::string_view cell, Type type)
{
    if (cell.empty())
        return is_float(type) ? std::optional(bits_of_real(type, std::numeric_limits<double>::quiet_NaN()))
                              : std::nullopt;
    if (type != Type::boolean)
        return bits_of_number(without_plus(cell), type);
    const int truth = cell == "1" ? 1 : cell == "0" ? 0 : truth_of(cell);
    return truth < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(truth));
}

}  // namespace

bool is_csv_file(std::string_view path) { return path.ends_with(".csv") || path.ends_with(".csv.gz"); }

Array read_csv_column(const std::string& path, const std::optional<std::string>& column, Type type)
{
    std::vector<std::byte> bytes;
    read_cells(path, column, [&](std::string_view cell, std::int64_t row) {
        const auto bits = bits_of_cell(cell, type);
        if (!bits)
            refuse(column ? path + ":" + *column : path, fmt::format("row {} {}", row, misfit(cell, type)));
        const auto* first = reinterpret_cast<const std::byte*>(&*bits);
        bytes.insert(bytes.end(), first, first + size_bytes(type));
    });
    Array array(type, bytes.size() / size_bytes(type));
    if (!bytes.empty())
        std::memcpy(array.data(), bytes.data(), bytes.size());
    return array;
}

Type csv_column_type(const std::string& path, const std::optional<std::string>& column)
{
    bool are_truths = true, are_integers = true, are_unsigned = true, is_any = false;
    read_cells(path, column, [&](std::string_view cell, std::int64_t) {
        is_any = true;
        are_truths = are_truths && truth_of(cell) >= 0;
        are_integers = are_integers && bits_of_cell(cell, Type::i64);
        are_unsigned = are_unsigned && bits_of_cell(cell, Type::u64);
    });
    return !is_any        ? Type::f64
           : are_truths   ? Type::boolean
           : are_integers ? Type::i64
           : are_unsigned ? Type::u64
                          : Type::f64;
}

}  // namespace segfold
