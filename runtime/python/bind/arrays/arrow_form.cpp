#include "runtime/python/bind/arrays/arrow_form.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/python/bind/arrays/array_refusals.h"
#include "runtime/python/bind/names.h"
#include "runtime/support/text_table.h"

namespace segfold::python {
namespace {

using Lists = ArrowLists::Kind;

std::string_view format_of(const ArrowSchema& schema, const std::string& what)
{
    if (schema.format == nullptr)
        refuse(what, "lends arrays of Arrow whose type has no format");
    return schema.format;
}

const ArrowSchema& child_of(const ArrowSchema& schema, const std::string& what)
{
    if (schema.n_children != 1 || schema.children == nullptr || schema.children[0] == nullptr)
        refuse(what, fmt::format("lends lists of Arrow whose type has {} children", schema.n_children));
    return *schema.children[0];
}

std::optional<Type> type_of_format(std::string_view format)
{
    constexpr std::pair<char, Type> kTypes[] = {{'c', Type::i8},  {'C', Type::u8},  {'s', Type::i16},
                                                {'S', Type::u16}, {'i', Type::i32}, {'I', Type::u32},
                                                {'l', Type::i64}, {'L', Type::u64}, {'e', Type::f16},
                                                {'f', Type::f32}, {'g', Type::f64}};
    for (const auto& [letter, type] : kTypes)
        if (format.size() == 1 && format.front() == letter)
            return type;
    return std::nullopt;
}

ArrowLists lists_of(const ArrowSchema& schema, const std::string& what)
{
    const auto format = format_of(schema, what);
    if (format == "+l" || format == "+L")
        return {Lists::offsets, format == "+L", 0};
    if (format == "+vl" || format == "+vL")
        return {Lists::views, format == "+vL", 0};
    if (!format.starts_with("+w:"))
        return {};
    ArrowLists lists{Lists::fixed, false, -1};
    const auto* const end = format.data() + format.size();
    if (std::from_chars(format.data() + 3, end, lists.width).ptr != end || lists.width < 0)
        refuse(what, fmt::format("lends lists of Arrow of the type '{}', which says no length", format));
    return lists;
}

/// Returns PyArrow's name for a type that segfold does not fold.
std::string_view name_of(const ArrowSchema& schema, std::string_view format)
{
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"n", "null"},       {"b", "bool in bits"},     {"u", "string"},    {"U", "string"},
        {"vu", "string"},    {"z", "binary"},           {"Z", "binary"},    {"vz", "binary"},
        {"w:", "binary"},    {"d:", "decimal"},         {"tdD", "date32"},  {"tdm", "date64"},
        {"tts", "time32"},   {"ttm", "time32"},         {"ttu", "time64"},  {"ttn", "time64"},
        {"ts", "timestamp"}, {"tD", "duration"},        {"ti", "interval"}, {"+s", "struct"},
        {"+m", "map"},       {"+r", "run-end encoded"}, {"+u", "union"},    {"+", "list"}};
    if (schema.dictionary != nullptr)
        return "dictionary";
    for (const auto& [begin, name] : kNames)
        if (format.starts_with(begin))
            return name;
    return format;
}

/// Python expressions for advice in messages. They denote an array, the elements of its lists, and the
/// lengths of its lists, in terms of the caller's library.
struct Words {
    Words(nb::handle object, const std::string& name, bool in_lists)
        : whole(name),
          is_table(nb::hasattr(object, "columns")),
          is_chunked(nb::hasattr(object, names().arrow_c_stream))
    {
        const auto module = text_of(object.type().attr("__module__"));
        is_polars = module.starts_with("polars");
        if (is_polars && in_lists && text_of(nb::getattr(object, "dtype", nb::none())).starts_with("Array"))
            whole += ".arr.to_list()";
        else if (!is_polars && !module.starts_with("pyarrow"))
            whole = fmt::format("pyarrow.{}({})", is_chunked ? "chunked_array" : "array", name);
        elements = whole;
        if (!in_lists)
            return;
        if (is_polars) {
            elements = fmt::format("{0}.filter({0}.list.len() > 0).explode()", whole);
            lengths = fmt::format(" with lengths={}.list.len().fill_null(0)", whole);
        } else {
            elements = fmt::format("pyarrow.compute.list_flatten({})", whole);
            lengths = fmt::format(" with lengths=pyarrow.compute.list_value_length({}).fill_null(0)", whole);
        }
    }

    /// Returns an expression that applies `step` to each element of a polars column.
    [[nodiscard]] std::string stepped(std::string_view step) const
    {
        return lengths.empty() ? fmt::format("{}{}", whole, step)
                               : fmt::format("{}.list.eval(polars.element(){})", whole, step);
    }
    /// Returns an expression that applies `step` to the elements of PyArrow lists, and gives the lengths of
    /// the lists.
    [[nodiscard]] std::string apart(std::string_view step) const
    {
        return fmt::format("{}{}{}", elements, step, lengths);
    }

    std::string whole, elements, lengths;
    bool is_polars = false, is_table, is_chunked;
};

std::string way_out_in_polars(const Words& words, std::string_view type)
{
    if (type == "bool in bits")
        return words.lengths.empty()
                   ? fmt::format("{0}.to_numpy(), or {0}.cast(polars.Int32), where true is 1", words.whole)
                   : words.stepped(".cast(polars.Int32)") + ", where true is 1";
    if (type == "string")
        return words.stepped(".cast(polars.Categorical).to_physical()");
    if (type == "decimal")
        return words.stepped(".cast(polars.Float64)");
    if (type == "struct")
        return words.is_table ? fmt::format("{}[NAME], a column", words.whole)
                              : words.stepped(".struct.field(NAME)");
    if (type == "list" && !words.lengths.empty())
        return words.elements + ", the inner lists";
    for (const std::string_view stored : {"dictionary", "date32", "time64", "timestamp", "duration"})
        if (type == stored)
            return words.stepped(".to_physical()");
    return "";
}

std::string way_out_in_pyarrow(const Words& words, std::string_view type)
{
    const std::string_view joined = words.is_chunked ? ".combine_chunks()" : "";
    if (type == "bool in bits")
        return fmt::format(
            "{0}.to_numpy(zero_copy_only=False), or {0}.cast(\"int32\"), where true is 1{1}{2}",
            words.elements, words.lengths.empty() ? "" : ",", words.lengths);
    if (type == "date32" || type == "time32")
        return words.apart(".cast(\"int32\")");
    if (type == "date64" || type == "time64" || type == "timestamp" || type == "duration")
        return words.apart(".cast(\"int64\")");
    if (type == "decimal")
        return words.apart(".cast(\"float64\")");
    if (type == "dictionary")
        return words.apart(fmt::format("{}.indices", joined));
    if (type == "string" || type == "binary")
        return words.apart(fmt::format(".dictionary_encode(){}.indices", joined));
    if (type == "struct")
        return words.is_table
                   ? fmt::format("{}[NAME], a column", words.whole)
                   : fmt::format("pyarrow.compute.struct_field({}, NAME){}", words.elements, words.lengths);
    if (type == "run-end encoded")
        return fmt::format("pyarrow.compute.run_end_decode({}){}", words.elements, words.lengths);
    if (type == "list" && !words.lengths.empty())
        return words.elements + ", the inner lists";
    if (type == "map" && words.lengths.empty())
        return words.is_chunked
                   ? fmt::format(
                         "pyarrow.chunked_array([pyarrow.ListArray.from_arrays(m.offsets, m.items) for m in "
                         "{}.drop_null().chunks])",
                         words.whole)
                   : fmt::format("pyarrow.ListArray.from_arrays(m.offsets, m.items) of m = {}.drop_null()",
                                 words.whole);
    return "";
}

[[noreturn]] void refuse_type(const ArrowSchema& schema, const ArrowLists& lists, nb::handle object,
                              const std::string& what)
{
    const Words words(object, what, lists.kind != Lists::none);
    const auto type = name_of(schema, format_of(schema, what));
    const auto way = words.is_polars ? way_out_in_polars(words, type) : way_out_in_pyarrow(words, type);
    refuse(
        what,
        fmt::format(
            "holds {}elements of Arrow's type {}; segfold folds 8 to 64 bit integers, float16, float32 and "
            "float64 of Arrow{}{}",
            lists.kind == Lists::none ? "" : "lists of ", type, way.empty() ? "" : ": give ", way));
}

}  // namespace

ArrowForm form_of_arrow(const ArrowSchema& schema, nb::handle object, const std::string& what, Holds holds)
{
    ArrowForm form;
    const auto* entry = &schema;
    form.lists = lists_of(schema, what);
    if (holds == Holds::rows && form.lists.kind != Lists::none) {
        // The innermost lists are rows; lists of rows are segments.
        const auto inner = lists_of(child_of(schema, what), what);
        auto rows = form.lists;
        if (inner.kind == Lists::fixed) {
            entry = &child_of(schema, what);
            rows = inner;
        } else {
            form.lists = {};
        }
        if (rows.kind != Lists::fixed)
            refuse(what,
                   "holds lists of any lengths; a row of features for each entry is needed, in fixed-size "
                   "lists");
        if (rows.width == 0)
            refuse(what, "holds rows of 0 features; a row has at least one feature");
        form.num_features = rows.width;
        entry = &child_of(*entry, what);
    } else if (holds == Holds::numbers && form.lists.kind != Lists::none) {
        refuse(what, "holds lists, and numbers are needed");
    } else if (form.lists.kind != Lists::none) {
        entry = &child_of(schema, what);
    }
    const auto type = type_of_format(format_of(*entry, what));
    if (!type || entry->dictionary != nullptr)
        refuse_type(*entry, form.lists, object, what);
    form.type = *type;
    return form;
}

void refuse_arrow_nulls(const ArrowForm& form, std::int64_t count, nb::handle object, const std::string& what)
{
    const bool in_lists = form.lists.kind != Lists::none, in_rows = form.num_features != 0;
    const Words words(object, what, in_lists);
    std::string way = "rows without them";
    if (in_rows && !in_lists)
        way = fmt::format(
            "{}.fill_null(VALUE).to_numpy().reshape(-1, {}), where VALUE changes no result; that leaves out "
            "null "
            "rows",
            words.is_polars ? fmt::format("{}.drop_nulls().explode()", words.whole)
                            : fmt::format("pyarrow.compute.list_flatten({})", words.whole),
            form.num_features);
    else if (words.is_polars && !in_rows)
        way = fmt::format("{}, where VALUE changes no result, or {}.drop_nulls()",
                          words.stepped(".fill_null(VALUE)"), words.whole + (in_lists ? ".list" : ""));
    else if (in_lists && !in_rows)
        way = fmt::format("{}.fill_null(VALUE), where VALUE changes no result,{}", words.elements,
                          words.lengths);
    else if (!in_rows)
        way = fmt::format("{0}.fill_null(VALUE), where VALUE changes no result, or {0}.drop_null()",
                          words.whole);
    refuse(what,
           fmt::format("has {}{}, and a fold knows no missing values; give {}", count_text(count, "null"),
                       in_rows    ? " in its rows"
                       : in_lists ? " in its lists"
                                  : "",
                       way));
}

std::string arrow_elements(nb::handle object, const std::string& what)
{
    return Words(object, what, true).elements;
}

std::string arrow_lists_apart(nb::handle object, const std::string& what)
{
    return Words(object, what, true).apart("");
}

}  // namespace segfold::python
