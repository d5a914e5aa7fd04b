#include "runtime/data/formats/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include "dsl/message/suggest.h"
#include "runtime/data/formats/csv.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/written_array.h"
#include "runtime/data/formats/zip.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/refuse.h"

namespace segfold {
namespace {

constexpr std::string_view kMemberSuffix = ".npy";
constexpr std::string_view kArchiveSuffix = ".npz";

/// Returns the name of an array, which is the member's name without its suffix.
std::string array_name(const ZipMember& member)
{
    return member.name.substr(0, member.name.size() - kMemberSuffix.size());
}

/// Returns the archive's arrays. Skips folders and other files. Refuses an archive with two arrays of the
/// same name.
std::vector<ZipMember> read_directory(const InputFile& file)
{
    std::vector<ZipMember> members = read_zip_directory(file);
    const auto is_array = [](const ZipMember& member) { return member.name.ends_with(kMemberSuffix); };
    if (!members.empty() && std::ranges::none_of(members, is_array))
        refuse(file.path(), fmt::format("holds no arrays: '{}' is not an .npy array", members.front().name));
    std::erase_if(members, std::not_fn(is_array));
    std::set<std::string> names;
    for (const ZipMember& member : members)
        if (!names.insert(array_name(member)).second)
            refuse(file.path(),
                   fmt::format("holds two arrays named '{}'; names must differ", array_name(member)));
    return members;
}

/// Returns the name of an array in messages, such as "scores.npz:x".
std::string place_of(const InputFile& file, const ZipMember& member)
{
    return fmt::format("{}:{}", file.path(), array_name(member));
}

Array read_member(const InputFile& file, const ZipMember& member, const Type* asked,
                  NpyShape shape = NpyShape::line)
{
    const std::string where = place_of(file, member);
    Array array;
    read_zip_member(file, member, where, [&](const ZipSource& source) {
        array = read_npy_from(source, member.bytes, where, asked, shape);
    });
    return array;
}

std::string joined_names(const std::vector<ZipMember>& members)
{
    std::string names;
    for (const ZipMember& member : members)
        names += (names.empty() ? "" : ", ") + array_name(member);
    return names;
}

ZipMember find_member(const InputFile& file, const std::string& name)
{
    const std::vector<ZipMember> members = read_directory(file);
    const auto found = std::ranges::find(members, name, array_name);
    if (found != members.end())
        return *found;
    if (members.empty())
        refuse(file.path(), fmt::format("has no array '{}'; it is empty", name));
    std::vector<std::string> names;
    std::ranges::transform(members, std::back_inserter(names), array_name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    refuse(file.path(), fmt::format("has no array '{}'; its arrays are {}{}", name, joined_names(members),
                                    did_you_mean(name, known)));
}

ZipMember find_only_member(const InputFile& file)
{
    const std::vector<ZipMember> members = read_directory(file);
    if (members.size() != 1)
        refuse(file.path(), members.empty() ? "holds no arrays"
                                            : fmt::format("holds {} arrays, {}; choose one, as in {}:{}",
                                                          members.size(), joined_names(members), file.path(),
                                                          array_name(members.front())));
    return members.front();
}

/// True if the file is a pipe or similar stream that begins like an archive. The names of other files tell
/// their format.
bool begins_as_archive(const InputFile& file)
{
    constexpr std::string_view kMagic = "PK\x03\x04";
    std::array<char, kMagic.size()> start{};
    if ((!file.is_stream() && file.path() != "-") || file.bytes() < start.size())
        return false;
    file.read(0, std::as_writable_bytes(std::span(start)));
    return std::string_view(start.data(), start.size()) == kMagic;
}

}  // namespace

std::string keys_name(std::span<const ResultField> fields)
{
    std::string name = "keys";
    for (int more = 0; std::ranges::find(fields, name, &ResultField::name) != fields.end(); ++more)
        name = more == 0 ? "layout_keys" : fmt::format("layout_keys_{}", more + 1);
    return name;
}

ArchivePlace archive_place(const std::string& place)
{
    const auto cut = [&](std::size_t colon) {
        return ArchivePlace{place.substr(0, colon), place.substr(colon + 1)};
    };
    for (const std::string_view suffix :
         {kArchiveSuffix, std::string_view(".csv"), std::string_view(".csv.gz")})
        if (const auto ending = place.rfind(fmt::format("{}:", suffix)); ending != std::string::npos)
            return cut(ending + suffix.size());
    if (const auto colon = place.find(':'); colon != std::string::npos) {
        const auto path = place.substr(0, colon);
        std::error_code ignored;
        if (path == "-" || std::filesystem::is_fifo(path, ignored))
            return cut(colon);
    }
    return {place, std::nullopt};
}

namespace {

/// Opens the file that `place` names. Calls `plain` with the file of "FILE.npy", and `packed` with the
/// archive and the member of "FILE.npz:NAME" and "FILE.npz".
template <class Plain, class Packed>
auto at_place(const std::string& place, const Plain& plain, const Packed& packed)
{
    const auto [path, name] = archive_place(place);
    const InputFile file(path, Accepts::files_and_streams);
    if (name) {
        const auto member = find_member(file, *name);
        file.keep_for_next();  // later calls may read other members from the same stream
        return packed(file, member);
    }
    if (place.ends_with(kArchiveSuffix) || begins_as_archive(file))
        return packed(file, find_only_member(file));
    return plain(file);
}

Array read_place(const std::string& place, const Type* asked, NpyShape shape = NpyShape::line)
{
    return at_place(
        place, [&](const InputFile& file) { return read_open_npy(file, asked, shape); },
        [&](const InputFile& file, const ZipMember& member) {
            return read_member(file, member, asked, shape);
        });
}

}  // namespace

std::vector<std::string> npz_names(const std::string& path)
{
    std::vector<std::string> names;
    std::ranges::transform(read_directory(InputFile(path)), std::back_inserter(names), array_name);
    return names;
}

void write_npz(const std::string& path, std::span<const NamedArray> arrays, NpzOptions options)
{
    std::set<std::string> names;
    for (const NamedArray& array : arrays) {
        if (array.name.empty())
            refuse(path, "an array without a name cannot be written");
        if (!names.insert(array.name).second)
            refuse(path, fmt::format("two arrays are named '{}'; names must differ", array.name));
    }
    OutputFile file(path);
    ZipWriter writer(file, options.deflate, options.zip64);
    for (const NamedArray& named : arrays) {
        const std::string header =
            npy_header(named.array.type(), named.array.length(), named.array.row_length());
        writer.add(named.name + std::string(kMemberSuffix), std::as_bytes(std::span(header)),
                   {named.array.data(), named.array.bytes()});
    }
    writer.finish();
    file.commit();
}

Array read_array(const std::string& place)
{
    if (is_written_array(place))
        return read_written_array(place);
    if (const auto [path, column] = archive_place(place); is_csv_file(path))
        return read_csv_column(path, column, csv_column_type(path, column));
    return read_place(place, nullptr);
}

Array read_array_as(const std::string& place, Type type)
{
    if (is_written_array(place))
        return read_written_array(place, type);
    if (const auto [path, column] = archive_place(place); is_csv_file(path))
        return read_csv_column(path, column, type);
    return read_place(place, &type);
}

Array read_rows_as(const std::string& place, Type type)
{
    if (is_written_array(place))
        refuse(place, "rows of features are read from a file of two dimensions; save them with numpy.save()");
    if (is_csv_file(archive_place(place).path))
        refuse(place,
               "rows of features are read from an .npy file of two dimensions, and this is one column");
    return read_place(place, &type, NpyShape::rows);
}

Type read_array_type(const std::string& place)
{
    if (const auto [path, column] = archive_place(place); is_csv_file(path))
        return csv_column_type(path, column);
    const auto plain = [](const InputFile& file) {
        const Type type = read_open_npy_type(file);
        file.keep_for_next();
        return type;
    };
    return at_place(place, plain, [](const InputFile& file, const ZipMember& member) {
        const std::string where = place_of(file, member);
        Type type = Type::boolean;
        read_zip_beginning(file, member, where, [&](const ZipSource& source) {
            type = read_npy_type_from(source, member.bytes, where);
        });
        file.keep_for_next();
        return type;
    });
}

}  // namespace segfold
