#include "runtime/scale/stream_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "dsl/error.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/formats/zip.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/refuse.h"
#include "runtime/support/files/sha256.h"
#include "runtime/support/json_value.h"

namespace segfold {
namespace {

constexpr std::size_t kHeaderBytes = 128;  // bytes of a .npy header, enough for any array length

std::string field_path(const std::string& path, const std::string& field)
{
    return path.substr(0, path.size() - 4) + "." + field + ".npy";
}

std::string to_hex(std::span<const std::byte> bytes)
{
    std::string text;
    for (const auto byte : bytes)
        text += fmt::format("{:02x}", std::to_integer<int>(byte));
    return text;
}

std::vector<std::byte> from_hex(const std::string& text, const std::string& where)
{
    std::vector<std::byte> bytes;
    const auto digit = [&](char c) {
        if (c >= '0' && c <= '9')
            return c - '0';
        if (c >= 'a' && c <= 'f')
            return c - 'a' + 10;
        refuse(
            where,
            "is damaged: the state before is no number in hexadecimal digits; begin anew without --resume");
    };
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
    return bytes;
}

}  // namespace

StreamOutput::StreamOutput(const Operator& op, const std::string& path, std::optional<Type> key_type,
                           std::string fingerprint, Unfinished unfinished)
    : path_(path),
      resume_path_(path + ".resume"),
      fingerprint_(cache::sha256_hex(fingerprint)),
      unfinished_(unfinished),
      is_archive_(path.ends_with(".npz"))
{
    if (!path.ends_with(".npy") && !is_archive_)
        throw InputError(
            fmt::format("'{}': the name must end in .npz, or in .npy for a file for each result "
                        "field",
                        path));
    const auto folder = std::filesystem::path(path).parent_path();
    if (std::error_code ignored; !folder.empty() && !std::filesystem::is_directory(folder, ignored))
        throw InputError(fmt::format("'{}': there is no folder '{}'", path, folder.string()));
    const auto returned = returned_fields(op);
    for (const auto& field : returned) {
        names_.push_back(field.name);
        types_.push_back(field.type);
    }
    num_outputs_ = op.outputs.size();
    num_fields_ = returned.size() - num_outputs_;
    if (key_type && (op.keeps_results || is_archive_)) {
        keys_ = keys_name(returned);
        names_.push_back(keys_);
        types_.push_back(*key_type);
    }
    for (const auto& name : names_)
        paths_.push_back(is_archive_          ? fmt::format("{}.{}.npy", path, name)
                         : names_.size() == 1 ? path
                                              : field_path(path, name));
    if (unfinished == Unfinished::removed)
        open({});  // throws before the fold begins if a file cannot be made
}

StreamOutput::~StreamOutput()
{
    note_the_rest();
    if (is_noted_ || files_.empty() || unfinished_ == Unfinished::removed)
        return;
    for (const auto& path : paths_)  // without a resume state no run can continue these files
        std::remove(PartialFile::partial_name(path).c_str());
}

std::vector<std::string> StreamOutput::files() const { return is_archive_ ? std::vector{path_} : paths_; }

void StreamOutput::note_the_rest()
{
    if (!unnoted_ || files_.empty())
        return;
    try {
        note(*unnoted_);
    } catch (const Error&) {  // the resume file still has an earlier, valid state
    }
}

void StreamOutput::open(const std::vector<std::uint64_t>& kept_bytes)
{
    files_.clear();
    if (kept_bytes.empty())
        std::remove(resume_path_.c_str());  // open() empties the files to which this state belongs
    for (std::size_t i = 0; i < paths_.size(); ++i) {
        files_.push_back(
            std::make_unique<PartialFile>(paths_[i], kept_bytes.empty() ? 0 : kept_bytes[i], unfinished_));
        if (kept_bytes.empty()) {
            const auto header = npy_header(types_[i], 0, 0, kHeaderBytes);
            files_.back()->append(std::as_bytes(std::span(header)));
        }
    }
}

std::optional<StreamState> StreamOutput::resume()
{
    if (!std::filesystem::exists(resume_path_))
        return std::nullopt;
    const InputFile file(resume_path_);
    std::string text(file.bytes(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    StreamState state;
    std::vector<std::uint64_t> bytes;
    try {
        const auto document = nlohmann::json::parse(text);
        if (document.at("stream") != fingerprint_)
            refuse(resume_path_,
                   "is of another run: operator, files, scalars, layout, order or memory bound differ, or "
                   "a file has changed; repeat the command as it was, or begin anew without --resume");
        state.place = {document.at("element"), document.at("segment"), document.at("open_begin")};
        state.before = from_hex(document.at("before"), resume_path_);
        num_segments_ = document.at("segments");
        num_elements_ = state.place.element;
        bytes = document.at("bytes").get<std::vector<std::uint64_t>>();
    } catch (const nlohmann::json::exception&) {
        refuse(resume_path_,
               "is damaged: it does not say how far a run has come; begin anew without --resume");
    }
    if (bytes.size() != paths_.size())
        refuse(resume_path_, "is damaged: it speaks of other files; begin anew without --resume");
    is_noted_ = true;  // the destructor then keeps the files if open() throws
    open(bytes);
    return state;
}

void StreamOutput::note(const StreamState& state)
{
    nlohmann::json document = {{"stream", fingerprint_},         {"element", state.place.element},
                               {"segment", state.place.segment}, {"open_begin", state.place.open_begin},
                               {"before", to_hex(state.before)}, {"segments", num_segments_}};
    for (const auto& file : files_)
        document["bytes"].push_back(file->bytes());
    write_whole(resume_path_, document.dump() + "\n");
    noted_ = std::chrono::steady_clock::now();
    unnoted_.reset();
    is_noted_ = true;
}

void StreamOutput::append(const Results& results, std::int64_t num_segments, const Results& running,
                          std::int64_t num_elements)
{
    if (files_.empty())
        open({});
    if (num_segments == 0 && num_elements == 0)
        return;
    const auto before = std::exchange(unnoted_, std::nullopt);
    std::vector<std::uint64_t> bytes;
    for (const auto& file : files_)
        bytes.push_back(file->bytes());
    try {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const auto& array = i < num_fields_                  ? results[i].array
                                : i < num_fields_ + num_outputs_ ? running[i - num_fields_].array
                                                                 : *results.keys;
            files_[i]->append({array.data(), array.bytes()});
        }
    } catch (...) {
        // Remove the results that did not fit, so that a full disk has room for the resume state.
        for (std::size_t i = 0; i < files_.size(); ++i)
            files_[i]->cut(bytes[i]);
        unnoted_ = before;
        throw;
    }
    num_segments_ += num_segments;
    num_elements_ += num_elements;
}

void StreamOutput::take(const StreamResults& results, const StreamState& state)
{
    append(results.results, results.num_segments, results.running, results.num_elements);
    if (state.is_end) {
        unnoted_.reset();
        return;
    }
    unnoted_ = state;
    // The first state is written at once, because a disk that fills up later may have no room for it.
    if (!is_noted_ || std::chrono::steady_clock::now() - noted_ > std::chrono::seconds(1))
        note(state);
}

void StreamOutput::put(const StreamResults& results)
{
    if (files_.empty())
        open({});
    num_segments_ = std::max(num_segments_, results.first_segment + results.num_segments);
    num_elements_ = std::max(num_elements_, results.first_element + results.num_elements);
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const bool is_output = i < num_fields_ + num_outputs_;
        const auto& array = is_output ? results.running[i - num_fields_].array : *results.results.keys;
        const auto place = is_output ? results.first_element : results.first_segment;
        files_[i]->rewrite(kHeaderBytes + static_cast<std::uint64_t>(place) * size_bytes(types_[i]),
                           {array.data(), array.bytes()});
    }
}

std::string StreamOutput::left_behind(std::string_view when)
{
    if (unfinished_ == Unfinished::removed)
        return "";
    note_the_rest();
    if (!is_noted_)
        return "";
    std::vector<std::string> names;
    for (const auto& path : paths_)
        names.push_back(PartialFile::partial_name(path));
    return fmt::format(
        "the results before that are left in {}: --resume goes on from them {}; else begin anew without "
        "--resume, or remove them and {}",
        fmt::join(names, ", "), when, resume_path_);
}

void StreamOutput::write_archive()
{
    OutputFile archive(path_);
    ZipWriter writer(archive, false, false);
    for (std::size_t i = 0; i < files_.size(); ++i)
        writer.add(names_[i] + ".npy", files_[i]->bytes(),
                   [&](std::uint64_t place, std::span<std::byte> into) { files_[i]->read(place, into); });
    writer.finish();
    archive.commit();
}

void StreamOutput::commit()
{
    if (files_.empty())
        open({});
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const bool is_output = i >= num_fields_ && i < num_fields_ + num_outputs_;
        const auto header =
            npy_header(types_[i], static_cast<std::uint64_t>(is_output ? num_elements_ : num_segments_), 0,
                       kHeaderBytes);
        files_[i]->rewrite(0, std::as_bytes(std::span(header)));
    }
    if (is_archive_)
        write_archive();
    for (const auto& file : files_)
        is_archive_ ? file->remove() : file->commit();
    unnoted_.reset();
    is_noted_ = false;
    std::remove(resume_path_.c_str());
}

}  // namespace segfold
