#include "codegen/section/operator_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "codegen/costs.h"
#include "codegen/print/cuda_printer.h"
#include "codegen/print/shuffle_call.h"
#include "codegen/section/append_functions.h"
#include "codegen/section/atomic.h"
#include "codegen/section/helper_functions.h"
#include "codegen/section/map_section.h"
#include "codegen/section/native_map.h"
#include "codegen/section/native_rows.h"
#include "codegen/section/native_section.h"
#include "codegen/section/rows_section.h"
#include "codegen/section/scan_section.h"
#include "codegen/section/tile_section.h"
#include "codegen/section/vocabulary.h"
#include "codegen/weave/line_break.h"
#include "dsl/check/rows.h"

namespace segfold {
namespace {

constexpr const char* kPresent = "present";

/// Emits the struct of a checked table, and gather(), the function that reads the table.
///
/// A read past the table's end is noted in a register until the thread leaves the kernel. If each read stored
/// its note in memory, the compiler could not overlap the loads of several items.
Piece checked_table(Type type, Dialect dialect)
{
    const std::string nothing = type == Type::f16 || type == Type::bf16 ? cuda_name(type) + "{}"
                                : type == Type::boolean                 ? "false"
                                : type == Type::f32                     ? "0.0f"
                                : type == Type::f64                     ? "0.0"
                                : size_bytes(type) < 4                  ? cuda_name(type) + "(0)"
                                                                        : "0";
    if (dialect == Dialect::native)
        return native_table_piece(table_name(type), type, nothing);
    return {table_name(type),
            vocabulary("table.cuh", "Table",
                       {{{"table", table_name(type)}, {"type", cuda_name(type)}, {"zero", nothing}}}),
            Piece::Kind::declaration};
}

/// Prints the functions of one operator.
class Section {
public:
    /// `lifted` is the problem's operator or, if that operator is over rows, the operator on one feature.
    Section(const Problem& problem, const Operator& lifted, Dialect dialect)
        : op_(lifted),
          given_(problem.op.parameters),
          checked_tables_(problem.checked_tables),
          dialect_(dialect),
          printer_(lifted, problem.index_bits, problem.checked_tables, dialect)
    {}

    std::vector<Piece> functions()
    {
        std::vector<Piece> pieces;
        const auto add = [&](const char* name, const std::string& text) {
            pieces.push_back({name, break_lines(text), Piece::Kind::declaration});
        };
        for (const Type type : kTypes)
            pieces.push_back(checked_table(type, dialect_));
        add("Inputs", inputs());
        if (dialect_ == Dialect::cuda)
            add("OutsideReads", outside_reads());
        add("Results", results());
        add("State", state());
        add("identity", identity());
        add("lift", lift());
        add("load_item", load_item());
        if (dialect_ == Dialect::cuda)
            std::ranges::move(columns_section(op_), std::back_inserter(pieces));
        add("combine", combine());
        if (dialect_ == Dialect::native) {
            add("store", store());
            add("finish_row", finish_row());
            pieces.back().second_name = "RowResult";
            std::ranges::move(native_lane_pieces(op_, present()), std::back_inserter(pieces));
            return pieces;
        }
        if (has_append(op_)) {
            add("append", append_function(op_, present(), body_of(*op_.append)));
            add("Element", element_struct(op_));
            add("load_element", load_element_function(op_));
            add("append_element", append_element_function(op_));
        }
        if (atomic_function(op_))
            add("atomic_combine", atomic_combine_text(op_));
        if (warp_function(op_))
            add("redux", redux_text(op_));
        add("store", store());
        add("finish_row", finish_row());
        pieces.back().second_name = "RowResult";
        add("shuffle_up", shuffle("shuffle_up", "__shfl_up_sync", "int delta", "delta"));
        add("shuffle_down", shuffle("shuffle_down", "__shfl_down_sync", "int delta", "delta"));
        add("shuffle", shuffle("shuffle", "__shfl_sync", "int lane", "lane"));
        return pieces;
    }

private:
    /// True if the state is a plain number, that is, one field with an identity. A state without identity
    /// also has a flag that tells whether it has any element.
    [[nodiscard]] bool scalar_state() const { return op_.state.size() == 1 && op_.has_identity(); }

    /// Returns the name of this flag. The name differs from every field's name.
    [[nodiscard]] std::string present() const
    {
        std::string name = kPresent;
        const auto taken = [&](const StateField& field) { return cuda_identifier(field.name) == name; };
        while (std::ranges::any_of(op_.state, taken))
            name += "_";
        return name;
    }

    [[nodiscard]] bool is_checked(const std::string& table) const
    {
        return std::ranges::find(checked_tables_, table) != checked_tables_.end();
    }

    [[nodiscard]] std::string function(const std::string& head, const std::string& body,
                                       bool is_called = false) const
    {
        return fmt::format("{} {}\n{{\n{}}}\n", function_kind(dialect_, is_called), head, body);
    }

    [[nodiscard]] std::string inputs() const
    {
        std::string text = "struct Inputs {\n";
        for (const auto& parameter : given_)
            if (is_checked(parameter.name))
                text +=
                    fmt::format("    {} {};\n", table_name(parameter.type), cuda_identifier(parameter.name));
            else
                text += fmt::format("    const {}* {};{}\n", cuda_name(parameter.type),
                                    cuda_identifier(parameter.name),
                                    parameter.scalar  ? "  // one value"
                                    : parameter.table ? "  // table"
                                                      : "");
        return text + "};\n";
    }

    [[nodiscard]] std::string outside_reads() const
    {
        Holes holes{{}, {{"table", {}}}};
        for (const auto& table : checked_tables_)
            holes.lists["table"].push_back({{{"name", cuda_identifier(table)}}});
        return vocabulary("table.cuh", "OutsideReads", holes);
    }

    [[nodiscard]] std::string results() const
    {
        std::string text = "struct Results {\n";
        for (const auto& field : op_.results)
            text += fmt::format("    {}* {};\n", cuda_name(field.type), cuda_identifier(field.name));
        for (const auto& field : op_.outputs)
            text += fmt::format("    {}* {};  // of each element\n", cuda_name(field.type),
                                cuda_identifier(field.name));
        if (std::ranges::any_of(given_, &Parameter::row))
            text += "    Index num_features;  // of each row\n";
        return text + "};\n";
    }

    [[nodiscard]] std::string state() const
    {
        if (scalar_state())
            return fmt::format("using State = {};\n", cuda_name(op_.state[0].type));
        std::string text = "struct State {\n";
        for (const auto& field : op_.state)
            text += fmt::format("    {} {};\n", cuda_name(field.type), cuda_identifier(field.name));
        if (!op_.has_identity())
            text += fmt::format("    bool {};  // false: no element yet, which serves as the identity\n",
                                present());
        return text + "};\n";
    }

    std::string identity()
    {
        if (!op_.has_identity())
            return function("State identity()", "    return {};\n");
        std::vector<std::string> values;
        for (const auto& field : op_.state)
            values.push_back(printer_.expression(*field.identity));
        return function("State identity()", give(values));
    }

    /// Prints `return VALUE;` or `return {VALUE, ...};`, broken into lines if it is too wide.
    [[nodiscard]] std::string give(std::vector<std::string> values) const
    {
        if (scalar_state())
            return "    return " + values[0] + ";\n";
        const auto line = fmt::format("    return {{{}}};\n", fmt::join(values, ", "));
        return line.size() <= kWidestLine + 1
                   ? line
                   : fmt::format("    return {{\n        {},\n    }};\n", fmt::join(values, ",\n        "));
    }

    static void add_names(const Expression& expression, std::set<std::string>& names)
    {
        if (expression->kind == ExpressionKind::name)
            names.insert(expression->name);
        for (const auto& argument : expression->arguments)
            add_names(argument, names);
    }

    /// Prints a block's locals as constants. Omits unused locals, except locals that read a checked table.
    [[nodiscard]] std::string lets(const Block& block) const
    {
        std::set<std::string> mentioned;
        for (const auto& assignment : block.assignments)
            add_names(assignment.value, mentioned);
        // A local that reads a checked table is evaluated even if it is unused, to note reads past the
        // table's end.
        const auto is_seen = [&](const Let& let) {
            return std::ranges::any_of(checked_tables_,
                                       [&](const auto& table) { return gathers(let.value, table); });
        };
        for (auto let = block.lets.rbegin(); let != block.lets.rend(); ++let)
            if (mentioned.contains(let->name) || is_seen(*let))
                add_names(let->value, mentioned);
        std::string text;
        for (const auto& let : block.lets)
            if (mentioned.contains(let.name) || is_seen(let))
                text += fmt::format(
                    "    {}const {} {} = {};\n", mentioned.contains(let.name) ? "" : "[[maybe_unused]] ",
                    cuda_name(*let.value->type), cuda_identifier(let.name), printer_.expression(let.value));
        return text;
    }

    std::string body_of(const Block& block)
    {
        std::vector<std::string> values;
        for (const auto& assignment : block.assignments)
            values.push_back(printer_.expression(assignment.value));
        if (!op_.has_identity())
            values.emplace_back("true");
        return lets(block) + give(values);
    }

    std::string lift()
    {
        std::vector<std::string> parameters;
        for (const auto& parameter : op_.parameters)
            if (lift_uses(op_, parameter))
                parameters.push_back(function_parameter(checked_tables_, parameter));
        for (const char* place : {"index", "position", "segment"})
            if (uses_name(op_.lift, place))
                parameters.push_back(std::string("Index ") + place);
        return function(fmt::format("State lift({})", fmt::join(parameters, ", ")), body_of(op_.lift));
    }

    [[nodiscard]] std::string load_item() const
    {
        std::vector<std::string> arguments;
        for (const auto& parameter : op_.parameters)
            if (lift_uses(op_, parameter))
                arguments.push_back("inputs." + cuda_identifier(parameter.name) +
                                    (parameter.table ? "" : "[index]"));
        const bool index = std::ranges::any_of(op_.parameters, [&](const auto& parameter) {
            return !parameter.table && lift_uses(op_, parameter);
        });
        std::string parameters = arguments.empty() ? "const Inputs&" : "const Inputs& inputs";
        for (const std::string place : {"index", "position", "segment"}) {
            const bool used = uses_name(op_.lift, place);
            if (used)
                arguments.push_back(place);
            parameters += used || (place == "index" && index) ? ", Index " + place : ", Index";
        }
        return "// The element at `index` of the input, which is at `position` of `segment`, lifted.\n" +
               function("State load_item(" + parameters + ")",
                        fmt::format("    return lift({});\n", fmt::join(arguments, ", ")));
    }

    std::string combine()
    {
        const auto earlier = cuda_identifier(op_.earlier);
        const auto later = cuda_identifier(op_.later);
        std::string guard;
        if (!op_.has_identity())
            guard = fmt::format(
                "    if (!{0}.{2})\n        return {1};\n    if (!{1}.{2})\n        return {0};\n", earlier,
                later, present());
        return "// The left operand covers earlier elements, always.\n" +
               function(fmt::format("State combine(State {}, State {})", earlier, later),
                        guard + body_of(op_.combine),
                        dialect_ == Dialect::native ? has_many_fields(op_) : is_called(op_));
    }

    std::string assign_results(const Block& block, const std::string& indent)
    {
        std::string text;
        for (const auto& assignment : block.assignments)
            text += fmt::format("{}results.{}[segment] = {};\n", indent, cuda_identifier(assignment.field),
                                printer_.expression(assignment.value));
        return text;
    }

    /// Returns the block that computes the results from a state.
    [[nodiscard]] Block finishing() const
    {
        if (op_.finish)
            return *op_.finish;
        Block block;
        for (std::size_t i = 0; i < op_.state.size(); ++i)
            block.assignments.push_back(
                {op_.results[i].name,
                 with_type(make_field(Operand::state, op_.state[i].name), {}, op_.state[i].type),
                 {}});
        return block;
    }

    /// Prints the results of one feature, for stages over rows.
    [[nodiscard]] std::string finish_row() const
    {
        std::string results =
            fmt::format("// The results of one {}.\nstruct RowResult {{\n",
                        std::ranges::any_of(given_, &Parameter::row) ? "feature" : "segment");
        for (const auto& field : op_.results)
            results += fmt::format("    {} {};\n", cuda_name(field.type), cuda_identifier(field.name));
        const auto gives = [&](const Block& block, const std::string& indent) {
            std::vector<std::string> values;
            for (const auto& assignment : block.assignments)
                values.push_back(printer_.expression(assignment.value));
            return fmt::format("{}return {{{}}};\n", indent, fmt::join(values, ", "));
        };
        const auto block = finishing();
        std::string body;
        if (op_.empty)
            body = fmt::format("    if (length == 0) {{\n{}{}    }}\n", lets(*op_.empty),
                               gives(*op_.empty, "        "));
        const auto is_used = [&](const char* name) {
            return uses_name(block, name) || (op_.empty && uses_name(*op_.empty, name));
        };
        const auto head = fmt::format("RowResult finish_row(Index{}, Index{}, State state)",
                                      is_used("segment") ? " segment" : "",
                                      is_used("length") || op_.empty ? " length" : "");
        return results + "};\n\n" + function(head, body + lets(block) + gives(block, "    "));
    }

    std::string store()
    {
        const Block block = finishing();
        std::string body;
        bool uses_length = uses_name(block, "length");
        if (op_.empty) {
            uses_length = true;
            auto empty = lets(*op_.empty);
            std::string indented;
            for (std::size_t at = 0; at < empty.size();) {
                const auto end = empty.find('\n', at) + 1;
                indented += "    " + empty.substr(at, end - at);
                at = end;
            }
            body += "    if (length == 0) {\n" + indented + assign_results(*op_.empty, "        ") +
                    "        return;\n    }\n";
        }
        body += lets(block) + assign_results(block, "    ");
        const auto* comment = op_.finish ? "// Finishes the total of a segment and writes its results.\n"
                                         : "// Writes the total of a segment.\n";
        return comment +
               function(fmt::format("void store(const Results& results, Index segment, Index{}, State state)",
                                    uses_length ? " length" : ""),
                        body);
    }

    [[nodiscard]] std::string shuffle(const std::string& name, const std::string& intrinsic,
                                      const std::string& parameter, const std::string& argument) const
    {
        const auto moved = [&](Type type, const std::string& value) {
            return shuffle_call(type, value, intrinsic, "kFullMask", argument);
        };
        const auto head = fmt::format("State {}(State state, {})", name, parameter);
        if (scalar_state())
            return function(head, fmt::format("    return {};\n", moved(op_.state[0].type, "state")));
        std::string body;
        for (const auto& field : op_.state) {
            const auto member = "state." + cuda_identifier(field.name);
            body += fmt::format("    {} = {};\n", member, moved(field.type, member));
        }
        if (!op_.has_identity())
            body +=
                fmt::format("    state.{0} = {1};\n", present(), moved(Type::boolean, "state." + present()));
        return function(head, body + "    return state;\n");
    }

    const Operator& op_;
    const std::vector<Parameter>& given_;
    const std::vector<std::string>& checked_tables_;
    Dialect dialect_;
    CudaPrinter printer_;
};

void add_aliases(std::vector<Piece>& pieces, const Problem& problem)
{
    // Kernels compare keys as unsigned integers of their size.
    constexpr const char* kKeyTypes[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long"};
    const auto alias = [&](const char* name, const char* type) {
        pieces.push_back({name, fmt::format("using {} = {};\n", name, type), Piece::Kind::alias});
    };
    alias("Index", problem.index_bits == 64 ? "long long" : "int");
    alias("Key", kKeyTypes[std::countr_zero(static_cast<unsigned>(problem.key_bytes))]);
    alias("i8", "signed char");
    alias("u8", "unsigned char");
    alias("i16", "short");
    alias("u16", "unsigned short");
    alias("i64", "long long");
    alias("u64", "unsigned long long");
    alias("Number", cuda_name(problem.number_type).c_str());
}

}  // namespace

std::string function_parameter(const std::vector<std::string>& checked_tables, const Parameter& parameter)
{
    if (std::ranges::find(checked_tables, parameter.name) == checked_tables.end())
        return as_argument(parameter);
    return fmt::format("const {}& {}", table_name(parameter.type), cuda_identifier(parameter.name));
}

std::string table_name(Type type) { return fmt::format("Table_{}", name(type)); }

std::string constant_name(const std::string& name)
{
    std::string result = "k";
    bool upper = true;
    for (const char c : name) {
        if (c == '_') {
            upper = true;
            continue;
        }
        result += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        upper = false;
    }
    return result;
}

bool tells_empty(const Operator& op) { return op.empty && !(op.finish && uses_name(*op.finish, "length")); }

bool lift_uses(const Operator& op, const Parameter& parameter)
{
    if (!parameter.table)
        return uses_name(op.lift, parameter.name);
    return std::ranges::any_of(op.lift.lets,
                               [&](const auto& let) { return gathers(let.value, parameter.name); }) ||
           std::ranges::any_of(op.lift.assignments,
                               [&](const auto& set) { return gathers(set.value, parameter.name); });
}

bool lift_gathers(const Operator& op)
{
    return std::ranges::any_of(op.parameters, [&](const auto& parameter) {
        return parameter.table && !parameter.scalar && lift_uses(op, parameter);
    });
}

std::vector<Piece> operator_section(const Problem& problem, const std::vector<NamedConstant>& constants,
                                    const std::function<std::string(std::string_view)>& read_type,
                                    Dialect dialect, int map_items)
{
    std::vector<Piece> pieces;
    add_aliases(pieces, problem);
    const auto constant = [&](const std::string& type, const std::string& name, const std::string& value) {
        pieces.push_back(
            {name, fmt::format("constexpr {} {} = {};\n", type, name, value), Piece::Kind::constant});
    };
    for (const auto& [name, value] : constants)
        constant("int", name, std::to_string(value));
    const auto rows = has_rows(problem.op) ? with_reads_as_columns(problem.op) : RowOperator{problem.op};
    if (dialect == Dialect::native) {
        for (const auto& [name, value] : native_constants())
            constant("int", name, std::to_string(value));
        std::ranges::move(native_helper_pieces(problem.target), std::back_inserter(pieces));
        std::ranges::move(Section(problem, rows.op, dialect).functions(), std::back_inserter(pieces));
        std::ranges::move(native_map_section(problem, rows), std::back_inserter(pieces));
        std::ranges::move(native_rows_section(problem, rows), std::back_inserter(pieces));
        return pieces;
    }
    constant("int", "kWarpThreads", "32");
    constant("unsigned", "kFullMask", "0xffffffffu");
    for (const char* half : {"f16", "bf16"})
        pieces.push_back({half, read_type(std::string("parts/") + half + ".cuh"), Piece::Kind::declaration,
                          std::string("to_") + half});
    std::ranges::move(helper_pieces(), std::back_inserter(pieces));
    std::ranges::move(Section(problem, rows.op, dialect).functions(), std::back_inserter(pieces));
    std::ranges::move(map_section(problem, map_items), std::back_inserter(pieces));
    std::ranges::move(rows_section(problem, rows), std::back_inserter(pieces));
    std::ranges::move(scan_section(problem, rows), std::back_inserter(pieces));
    return pieces;
}

}  // namespace segfold
