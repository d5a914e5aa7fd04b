#include "dsl/text/standard_operators.h"

#include <algorithm>
#include <map>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/lasting.h"
#include "dsl/message/suggest.h"

namespace segfold {

std::span<const EmbeddedFile> standard_operator_files();

namespace {

/// The types that T may be. The operator's file name states them: sum.seg is for all numbers, max.float.seg
/// for floats, trace.integer.seg for integers, gcd.narrow.seg for integers of at most 32 bits,
/// wide_sum.unsigned.seg for unsigned integers. For its types, a file of the last two kinds wins over a file
/// for all integers.
enum class Family : std::uint8_t { number, integer, narrow, unsigned_integer, real };

struct File {
    Family family;
    std::string_view path;
    std::string_view text;
};

/// Returns a map from each operator's name to its files.
const std::map<std::string, std::vector<File>, std::less<>>& files()
{
    static const auto& known = lasting([] {
        std::map<std::string, std::vector<File>, std::less<>> result;
        for (const auto& [path, text] : standard_operator_files()) {
            const auto stem = path.substr(0, path.size() - std::string_view(".seg").size());
            const auto dot = stem.find('.');
            const auto suffix = dot == std::string_view::npos ? "" : stem.substr(dot + 1);
            const Family family = suffix == "float"      ? Family::real
                                  : suffix == "integer"  ? Family::integer
                                  : suffix == "narrow"   ? Family::narrow
                                  : suffix == "unsigned" ? Family::unsigned_integer
                                                         : Family::number;
            result[std::string(stem.substr(0, dot))].push_back({family, path, text});
        }
        return result;
    });
    return known;
}

bool takes(Family family, std::string_view name, Type type)
{
    if (type == Type::boolean)
        return name == "any" || name == "all" || name == "count" || name == "keep_first";
    if (family == Family::narrow)
        return is_integer(type) && size_bytes(type) <= 4;
    if (family == Family::unsigned_integer)
        return is_unsigned_integer(type);
    return family == Family::number || (family == Family::real) == is_float(type);
}

bool is_part_of_integers(Family family)
{
    return family == Family::narrow || family == Family::unsigned_integer;
}

const File* find_file(std::string_view name, Type type)
{
    const auto found = files().find(name);
    if (found == files().end())
        return nullptr;
    const File* taken = nullptr;
    for (const File& file : found->second)
        if (takes(file.family, name, type) && (!taken || is_part_of_integers(file.family)))
            taken = &file;
    return taken;
}

struct NameAndType {
    std::string_view name;
    std::optional<Type> type;
};

/// Splits an operator's name into name and type: "affine_u32" is affine for u32. "mean_variance" has no type.
NameAndType split(std::string_view name)
{
    const auto underscore = name.rfind('_');
    if (files().contains(name) || underscore == std::string_view::npos)
        return {name, std::nullopt};
    const auto type = find_type(name.substr(underscore + 1));
    return type ? NameAndType{name.substr(0, underscore), type} : NameAndType{name, std::nullopt};
}

std::vector<Type> types_of(std::string_view name)
{
    std::vector<Type> types;
    for (const Type type : kTypes)
        if (find_file(name, type))
            types.push_back(type);
    return types;
}

std::string list(const std::vector<Type>& types)
{
    std::string text;
    for (std::size_t i = 0; i < types.size(); ++i)
        text += (i == 0 ? "" : i + 1 == types.size() ? " and " : ", ") + std::string(name(types[i]));
    return text;
}

/// Returns the text after `mark` on the last line that begins with `mark`; empty if there is no such line.
std::string note_of(std::string_view text, std::string_view mark)
{
    const auto at = text.rfind("\n" + std::string(mark));
    if (at == std::string_view::npos)
        return {};
    const auto rest = text.substr(at + 1 + mark.size());
    return std::string(rest.substr(0, rest.find('\n')));
}

/// Splits a known name into operator and type. Throws InputError for an unknown name.
NameAndType known(std::string_view name)
{
    const auto parts = split(name);
    if (files().contains(parts.name))
        return parts;
    // Names without a type come first, so that they win over equally close names.
    std::vector<std::string> all;
    for (const auto& entry : files())
        all.push_back(entry.first);
    for (const auto& entry : files())
        for (const Type type : types_of(entry.first))
            all.push_back(entry.first + "_" + std::string(segfold::name(type)));
    const std::vector<std::string_view> names(all.begin(), all.end());
    throw InputError("unknown operator '" + std::string(name) +
                     "'; 'segfold operators' lists those that come with the program" +
                     did_you_mean(name, names));
}

/// Returns the versions of an operator. Their texts lack the notes that follow the operator in its file.
std::vector<StandardVersion> versions_of(std::string_view name, const std::vector<File>& files)
{
    std::vector<StandardVersion> versions;
    for (const File& file : files) {
        StandardVersion version;
        for (const Type type : kTypes)
            if (find_file(name, type) == &file)
                version.types.push_back(type);
        version.text = file.text.substr(0, file.text.find("\n# source: ") + 1);
        versions.push_back(std::move(version));
    }
    return versions;
}

}  // namespace

std::vector<StandardOperator> standard_operators()
{
    std::vector<StandardOperator> result;
    for (const auto& [name, versions] : files()) {
        const auto text = versions.front().text;
        const auto end = text.find_first_of(".\n");
        result.push_back({name, std::string(text.substr(2, end - 2)), types_of(name),
                          note_of(text, "# source: "), note_of(text, "# example: "),
                          versions_of(name, versions)});
    }
    return result;
}

bool is_standard_operator(std::string_view name) { return files().contains(split(name).name); }

std::vector<DeclaredParameter> standard_parameters(std::string_view name)
{
    const auto [stem, named_type] = known(name);
    const auto& file = files().find(stem)->second.front();
    auto parameters = declared_parameters(std::string(file.path), std::string(file.text));
    for (auto& parameter : parameters)
        if (!parameter.type)
            parameter.type = named_type;
    return parameters;
}

Operator standard_operator(std::string_view name, std::optional<Type> type)
{
    const auto [stem, named_type] = known(name);
    if (type && named_type && *type != *named_type)
        throw InputError("operator '" + std::string(name) + "' is for " +
                         std::string(segfold::name(*named_type)) + ", but the type asked for is " +
                         std::string(segfold::name(*type)) + "; give one of them");
    Type chosen = named_type                   ? *named_type
                  : type                       ? *type
                  : find_file(stem, Type::f32) ? Type::f32
                                               : Type::i32;
    const auto* file = find_file(stem, chosen);
    if (!file)
        throw InputError("operator '" + std::string(stem) + "' is not defined for " +
                         std::string(segfold::name(chosen)) + "; it takes " + list(types_of(stem)));
    return parse_operator(std::string(file->path), std::string(file->text), chosen);
}

}  // namespace segfold
