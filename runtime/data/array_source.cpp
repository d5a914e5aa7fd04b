#include "runtime/data/array_source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "dsl/error.h"
#include "runtime/data/formats/npy.h"
#include "runtime/support/files/file.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

constexpr std::int64_t kBytesAtOnce = std::int64_t{1} << 22;  // least bytes per thread
constexpr std::uint64_t kHashedBytes = std::uint64_t{1} << 20;

/// Returns a hash to tell arrays apart. It is as fast as memory, and does not resist attacks.
std::uint64_t quick_hash(std::span<const std::byte> bytes)
{
    std::uint64_t hash = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        hash = (hash ^ word) * 0xff51afd7ed558ccdU;
        hash ^= hash >> 32;
    }
    return hash;
}

class NpyFile : public ArraySource {
public:
    NpyFile(const std::string& path, std::optional<Type> asked) : file_(path)
    {
        const auto layout = read_npy_layout(file_, asked ? &*asked : nullptr);
        type_ = layout.type;
        length_ = static_cast<std::int64_t>(layout.length);
        offset_ = layout.offset;
        struct stat status = {};
        if (stat(path.c_str(), &status) == 0)
            changed_ = fmt::format("{}.{:09}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    }
    [[nodiscard]] Type type() const override { return type_; }
    [[nodiscard]] std::optional<std::int64_t> length() const override { return length_; }
    std::int64_t read(std::int64_t begin, Array& into) override
    {
        // Several threads read, because one core copies from the page cache more slowly than the link to a
        // GPU.
        const auto from = offset_ + static_cast<std::uint64_t>(begin) * size_bytes(type_);
        const std::span bytes(into.data(), into.bytes());
        parallel_for(std::ssize(bytes), kBytesAtOnce, [&](std::int64_t first, std::int64_t last) {
            file_.read(
                from + static_cast<std::uint64_t>(first),
                bytes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
        });
        if (type_ == Type::boolean)
            std::ranges::transform(into.as<std::uint8_t>(), into.as<std::uint8_t>().begin(),
                                   [](std::uint8_t byte) { return byte != 0; });
        return static_cast<std::int64_t>(into.length());
    }
    [[nodiscard]] bool reads_in_parallel() const override { return true; }
    [[nodiscard]] std::string where() const override { return file_.path(); }
    [[nodiscard]] std::string fingerprint() const override
    {
        return fmt::format("{} {} {} {} {:016x}", file_.path(), name(type_), length_, changed_, ends_hash());
    }

private:
    /// Returns a hash of the file's first and last megabyte, to tell apart files of the same length and time.
    [[nodiscard]] std::uint64_t ends_hash() const
    {
        const auto count = std::min(kHashedBytes, file_.bytes());
        std::vector<std::byte> ends(static_cast<std::size_t>(2 * count));
        file_.read(0, std::span(ends).first(static_cast<std::size_t>(count)));
        file_.read(file_.bytes() - count, std::span(ends).last(static_cast<std::size_t>(count)));
        return quick_hash(ends);
    }

    InputFile file_;
    Type type_ = Type::u8;
    std::int64_t length_ = 0;
    std::uint64_t offset_ = 0;
    std::string changed_;
};

class Memory : public ArraySource {
public:
    explicit Memory(Array array) : array_(std::move(array)) {}
    [[nodiscard]] Type type() const override { return array_.type(); }
    [[nodiscard]] std::optional<std::int64_t> length() const override
    {
        return static_cast<std::int64_t>(array_.length());
    }
    std::int64_t read(std::int64_t begin, Array& into) override
    {
        if (into.bytes() != 0)
            std::memcpy(into.data(),
                        array_.data() + static_cast<std::size_t>(begin) * size_bytes(array_.type()),
                        into.bytes());
        return static_cast<std::int64_t>(into.length());
    }
    [[nodiscard]] const std::byte* lent(std::int64_t begin) const override
    {
        return array_.data() + static_cast<std::size_t>(begin) * size_bytes(array_.type());
    }
    [[nodiscard]] std::string where() const override { return "an array in memory"; }
    [[nodiscard]] std::string fingerprint() const override
    {
        return fmt::format("memory {} {} {:016x}", name(array_.type()), array_.length(),
                           quick_hash({array_.data(), array_.bytes()}));
    }

private:
    Array array_;
};

class GeneratedValues : public ArraySource {
public:
    GeneratedValues(Type type, std::int64_t length, std::uint64_t seed, ValueRange range)
        : type_(type), length_(length), seed_(seed), range_(range)
    {}
    [[nodiscard]] Type type() const override { return type_; }
    [[nodiscard]] std::optional<std::int64_t> length() const override { return length_; }
    std::int64_t read(std::int64_t begin, Array& into) override
    {
        generate_values_into(into, seed_, range_, begin);
        return static_cast<std::int64_t>(into.length());
    }
    [[nodiscard]] bool reads_in_parallel() const override { return true; }
    [[nodiscard]] std::string where() const override { return "generated values"; }
    [[nodiscard]] std::string fingerprint() const override
    {
        return fmt::format("values {} {} {} {}", name(type_), length_, seed_, static_cast<int>(range_));
    }

private:
    Type type_;
    std::int64_t length_;
    std::uint64_t seed_;
    ValueRange range_;
};

class Generated : public ArraySource {
public:
    Generated(Type type, MakeElements make, std::optional<std::int64_t> length,
              std::function<bool()> has_more)
        : type_(type), make_(std::move(make)), length_(length), has_more_(std::move(has_more))
    {}
    [[nodiscard]] Type type() const override { return type_; }
    [[nodiscard]] std::optional<std::int64_t> length() const override { return length_; }
    std::int64_t read(std::int64_t begin, Array& into) override
    {
        if (begin != next_)
            throw InputError(
                fmt::format("elements that are made one after the other are asked for from {} on, "
                            "and the next one is {}",
                            begin, next_));
        const auto room = static_cast<std::int64_t>(into.length());
        const auto count = room == 0 ? 0 : make_(into);
        if (count < 0 || count > room)
            throw InputError(fmt::format("{} says that it has made {} where there is room for {}",
                                         name_of_it(), count_text(count, "element"), room));
        if (count < room && length_)
            throw InputError(fmt::format("{} has made {}, and {} {} announced", name_of_it(),
                                         count_text(next_ + count, "element"), *length_,
                                         *length_ == 1 ? "was" : "were"));
        next_ += count;
        is_ended_ = is_ended_ || count < room;
        return count;
    }
    [[nodiscard]] bool has_more(std::int64_t begin) override
    {
        if (is_ended_)
            return false;
        if (has_more_)
            return has_more_();
        Array one(type_, 1);
        return !length_ && read(begin, one) != 0;
    }
    [[nodiscard]] std::string where() const override { return "a generator"; }
    [[nodiscard]] std::string fingerprint() const override { return "generator " + std::string(name(type_)); }

private:
    [[nodiscard]] std::string name_of_it() const
    {
        return role().empty() ? "a generator" : "the generator of " + role();
    }

    Type type_;
    MakeElements make_;
    std::optional<std::int64_t> length_;
    std::function<bool()> has_more_;
    std::int64_t next_ = 0;
    bool is_ended_ = false;
};

}  // namespace

std::unique_ptr<ArraySource> npy_source(const std::string& path, std::optional<Type> asked)
{
    return std::make_unique<NpyFile>(path, asked);
}

std::unique_ptr<ArraySource> memory_source(const Array& array)
{
    return std::make_unique<Memory>(array.lend());
}

std::unique_ptr<ArraySource> memory_source(Array&& array)
{
    return std::make_unique<Memory>(std::move(array));
}

std::unique_ptr<ArraySource> values_source(Type type, std::int64_t length, std::uint64_t seed,
                                           ValueRange range)
{
    return std::make_unique<GeneratedValues>(type, length, seed, range);
}

std::unique_ptr<ArraySource> generated_source(Type type, MakeElements make,
                                              std::optional<std::int64_t> length,
                                              std::function<bool()> has_more)
{
    return std::make_unique<Generated>(type, std::move(make), length, std::move(has_more));
}

}  // namespace segfold
