#include "runtime/data/formats/npz.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/zip.h"
#include "runtime/support/files/file.h"
#include "tests/common/files.h"

namespace segfold::npz_test {
namespace {

std::vector<NamedArray> sample()
{
    std::vector<NamedArray> arrays;
    arrays.push_back({"keys", make_array<std::uint8_t>(Type::u8, {1, 2, 3})});
    arrays.push_back({"empty", Array(Type::f64, 0)});
    arrays.push_back({"größe", make_array<float>(Type::f32, {1.5F, -2.0F})});
    Array ramp(Type::i64, 300000);  // inflates and deflates in several pieces
    for (std::size_t i = 0; i < ramp.length(); ++i)
        ramp.as<std::int64_t>()[i] = static_cast<std::int64_t>(i * i % 1009);
    arrays.push_back({"ramp", std::move(ramp)});
    return arrays;
}

std::vector<NamedArray> small_sample()
{
    std::vector<NamedArray> arrays;
    arrays.push_back({"a", make_array<std::int16_t>(Type::i16, {1, 2, 3})});
    arrays.push_back({"b", make_array<std::uint8_t>(Type::u8, {7})});
    return arrays;
}

/// `bytes` with the little-endian `value` written over `size` bytes at `place`.
std::string with_field(std::string bytes, std::size_t place, std::uint64_t value, int size)
{
    for (int i = 0; i < size; ++i)
        bytes[place + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
    return bytes;
}

TEST(Npz, TypesAreReadFromHeadersAlone)
{
    const TemporaryFolder folder;
    write_npy(folder.file("x.npy"), make_array<float>(Type::f32, {1, 2}));
    EXPECT_EQ(read_array_type(folder.file("x.npy")), Type::f32);
    for (const bool deflate : {false, true}) {
        write_npz(folder.file("both.npz"), sample(), {deflate});
        EXPECT_EQ(read_array_type(folder.file("both.npz:keys")), Type::u8);
        EXPECT_EQ(read_array_type(folder.file("both.npz:ramp")), Type::i64);
    }

    // A pipe comes only once: what its type was read from is kept for the array.
    const auto pipe = folder.file("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] {
        const std::ifstream from(folder.file("x.npy"), std::ios::binary);
        std::ofstream(pipe, std::ios::binary) << from.rdbuf();
    });
    EXPECT_EQ(read_array_type(pipe), Type::f32);
    writer.join();
    EXPECT_EQ(read_array(pipe).length(), 2);
}

std::vector<NamedArray> read_npz(const std::string& path)
{
    std::vector<NamedArray> arrays;
    for (const auto& name : npz_names(path))
        arrays.push_back({name, read_array(path + ":" + name)});
    return arrays;
}

TEST(Npz, ReadsWhatItWrites)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    const std::vector<NamedArray> arrays = sample();
    for (const bool deflate : {false, true})
        for (const bool zip64 : {false, true}) {
            write_npz(path, arrays, {.deflate = deflate, .zip64 = zip64});
            const std::vector<NamedArray> read = read_npz(path);
            ASSERT_EQ(read.size(), arrays.size());
            for (std::size_t i = 0; i < arrays.size(); ++i) {
                EXPECT_EQ(read[i].name, arrays[i].name);
                EXPECT_EQ(read[i].array.type(), arrays[i].array.type());
                ASSERT_EQ(read[i].array.bytes(), arrays[i].array.bytes());
                EXPECT_TRUE(std::equal(read[i].array.data(), read[i].array.data() + read[i].array.bytes(),
                                       arrays[i].array.data()));
            }
            EXPECT_EQ(to_vector<std::int64_t>(read_array(path + ":ramp")),
                      to_vector<std::int64_t>(arrays[3].array));
        }
    EXPECT_EQ(folder.count(), 1U) << "a temporary file is left over";
}

TEST(Npz, DeflatingMakesItSmallerAndTheSameBytesEachTime)
{
    const TemporaryFolder folder;
    const std::vector<NamedArray> arrays = sample();
    write_npz(folder.file("stored.npz"), arrays);
    write_npz(folder.file("deflated.npz"), arrays, {.deflate = true});
    write_npz(folder.file("again.npz"), arrays, {.deflate = true});
    EXPECT_LT(std::filesystem::file_size(folder.file("deflated.npz")) * 4,
              std::filesystem::file_size(folder.file("stored.npz")));
    EXPECT_EQ(read_text(folder.file("deflated.npz")), read_text(folder.file("again.npz")));
}

TEST(Npz, HoldsNothingOrVeryMuch)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    write_npz(path, {});
    EXPECT_TRUE(read_npz(path).empty());
    EXPECT_EQ(refusal([&] { read_array(path); }, path), ": holds no arrays");
    // More members than the 16-bit count can say.
    std::vector<NamedArray> arrays;
    for (int i = 0; i < 66000; ++i)
        arrays.push_back({std::to_string(i), Array(Type::u8, 0)});
    write_npz(path, arrays);
    const std::vector<std::string> names = npz_names(path);
    ASSERT_EQ(names.size(), 66000U);
    EXPECT_EQ(names.back(), "65999");
}

TEST(Npz, ReadsOneArrayAndLooksAtNoOther)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    write_npz(path, small_sample());
    std::string bytes = read_text(path);
    bytes[bytes.find("NUMPY")] = '?';
    const std::string damaged = folder.write("b.npz", bytes);
    EXPECT_EQ(read_array(damaged + ":b").as<std::uint8_t>()[0], 7);
    EXPECT_EQ(refusal([&] { read_array(damaged + ":a"); }, damaged),
              ":a: is not an .npy file: it does not start with '\\x93NUMPY'");
}

TEST(Npz, ReadsAPlaceInAFile)
{
    const TemporaryFolder folder;
    const std::string npz = folder.file("a.npz"), npy = folder.file("a.npy");
    write_npz(npz, small_sample());
    write_npy(npy, make_array<std::uint16_t>(Type::u16, {9}));
    EXPECT_EQ(read_array(npz + ":a").length(), 3U);
    EXPECT_EQ(read_array(npy).as<std::uint16_t>()[0], 9);
    EXPECT_EQ(read_array_as(npy, Type::bf16).type(), Type::bf16);
    EXPECT_EQ(refusal([&] { read_array_as(npz + ":a", Type::f32); }, npz),
              ":a: holds i16, but f32 is needed; save it with array.astype(numpy.float32)");
    EXPECT_EQ(refusal([&] { read_array(npz); }, npz),
              ": holds 2 arrays, a, b; choose one, as in " + npz + ":a");
    EXPECT_EQ(refusal([&] { read_array(npz + ":A"); }, npz),
              ": has no array 'A'; its arrays are a, b; did you mean 'a'?");
    std::vector<NamedArray> single = small_sample();
    single.pop_back();
    write_npz(npz, single);
    EXPECT_EQ(read_array(npz).length(), 3U);
}

/// As zip makes them of a folder, with an entry for it.
TEST(Npz, FoldersAndOtherFilesAreNoArrays)
{
    const TemporaryFolder folder;
    const auto path = folder.file("a.npz");
    {
        OutputFile file(path);
        ZipWriter writer(file, false, false);
        const auto header = npy_header(Type::u8, 1);
        const auto one = std::byte{7};
        writer.add("d/", {}, {});
        writer.add("d/notes.txt", std::as_bytes(std::span(header)), {});
        writer.add("d/x.npy", std::as_bytes(std::span(header)), {&one, 1});
        writer.finish();
        file.commit();
    }
    EXPECT_EQ(npz_names(path), std::vector<std::string>{"d/x"});
    EXPECT_EQ(read_array(path).as<std::uint8_t>()[0], 7);
    EXPECT_EQ(read_array(path + ":d/x").as<std::uint8_t>()[0], 7);
    EXPECT_EQ(read_npz(path).size(), 1U);
}

TEST(Npz, RefusesNames)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    std::vector<NamedArray> arrays;
    arrays.push_back({"", Array(Type::i32, 1)});
    EXPECT_EQ(refusal([&] { write_npz(path, arrays); }, path), ": an array without a name cannot be written");
    arrays[0].name = "x";
    arrays.push_back({"x", Array(Type::i32, 1)});
    EXPECT_EQ(refusal([&] { write_npz(path, arrays); }, path),
              ": two arrays are named 'x'; names must differ");
    EXPECT_EQ(folder.count(), 0U);
}

class DamagedNpz : public testing::Test {
protected:
    DamagedNpz()
    {
        write_npz(path_, small_sample());
        bytes_ = read_text(path_);
        entry_ = bytes_.find("PK\1\2");
        end_ = bytes_.find("PK\5\6");
    }

    std::string message(const std::string& bytes)
    {
        EXPECT_EQ(folder_.write("a.npz", bytes), path_);
        return refusal([&] { read_npz(path_); }, path_);
    }

    TemporaryFolder folder_;
    std::string path_ = folder_.file("a.npz");
    std::string bytes_;
    std::size_t entry_ = 0;  // of the first member in the directory
    std::size_t end_ = 0;    // of the record at the archive's end
};

TEST_F(DamagedNpz, Archives)
{
    EXPECT_EQ(message(""), ": is empty; a zip archive is needed");
    EXPECT_EQ(message("hello"), ": is truncated or not a zip archive: it has no directory at its end");
    EXPECT_EQ(message(bytes_.substr(0, bytes_.size() - 1)),
              ": is truncated or not a zip archive: it has no directory at its end");
    EXPECT_EQ(message(with_field(bytes_, end_ + 16, 1 << 20, 4)),
              ": is a damaged archive: its directory does not lie within the file");
    EXPECT_EQ(message(with_field(bytes_, end_ + 10, 1000, 2)),
              ": is a damaged archive: 1000 members cannot be listed in 102 bytes");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 28, 1000, 2)),
              ": is a damaged archive: its directory ends early");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 24, 0xffffffff, 4)),
              ": is a damaged archive: the 64-bit sizes of 'a.npy' are missing");
}

TEST_F(DamagedNpz, Members)
{
    EXPECT_EQ(message(with_field(bytes_, entry_ + 8, 1, 2)), ":a: is encrypted; plain members are needed");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 10, 14, 2)),
              ":a: is packed by method 14; stored (0) and deflated (8) members are read");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 24, 1000, 4)),
              ":a: is damaged: it is stored, but 1000 bytes are said to take 134");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 42, 1, 4)),
              ":a: is damaged: there is no member at byte 1 of the archive");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 42, 1 << 20, 4)),
              ":a: is damaged: it does not lie within the archive");
    EXPECT_EQ(message(with_field(with_field(bytes_, entry_ + 20, 1 << 20, 4), entry_ + 24, 1 << 20, 4)),
              ":a: is damaged: it does not lie within the archive");
    std::string misnamed = bytes_;
    misnamed[entry_ + 46] = 'c';
    EXPECT_EQ(message(misnamed),
              ":c: is damaged: the archive's directory calls it 'c.npy', and its own header 'a.npy'");
    const std::string flipped = with_field(bytes_, bytes_.find("\1\0\2\0\3\0", 100, 6), 0x42, 1);
    EXPECT_TRUE(message(flipped).starts_with(":a: is damaged: its CRC-32 is ")) << message(flipped);
    std::string renamed = bytes_;
    renamed.replace(entry_ + 46, 5, "a.txt");
    EXPECT_EQ(folder_.write("a.npz", renamed), path_);
    EXPECT_EQ(npz_names(path_), std::vector<std::string>{"b"}) << "what is no .npy file is no array";
    renamed[bytes_.rfind("b.npy")] = 'b';
    renamed.replace(bytes_.rfind("b.npy"), 5, "b/c/d");
    EXPECT_EQ(message(renamed), ": holds no arrays: 'a.txt' is not an .npy array");
    renamed = bytes_;
    renamed[bytes_.rfind("b.npy")] = 'a';
    EXPECT_EQ(message(renamed), ": holds two arrays named 'a'; names must differ");
}

TEST_F(DamagedNpz, DeflatedMembers)
{
    write_npz(path_, small_sample(), {.deflate = true});
    bytes_ = read_text(path_);
    entry_ = bytes_.find("PK\1\2");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 24, 1 << 30, 4)).substr(0, 15), ":a: is damaged:");
    EXPECT_NE(
        message(with_field(bytes_, entry_ + 24, 1 << 30, 4)).find("cannot hold the 1073741824 bytes claimed"),
        std::string::npos);
    // The claims agree with the array's header only if the size does.
    EXPECT_EQ(message(with_field(bytes_, entry_ + 24, 135, 4)),
              ":a: is too long: 3 elements of i16 take 6 bytes, but 7 follow the header");
    const std::size_t packed = bytes_.find("a.npy") + 5;
    EXPECT_EQ(message(with_field(bytes_, packed, 0xff, 1)), ":a: is damaged: its packed bytes are not valid");
    EXPECT_EQ(message(with_field(bytes_, entry_ + 20, 10, 4)),
              ":a: is truncated: its packed bytes end early");
}

TEST_F(DamagedNpz, NeverCrashes)
{
    std::vector<NamedArray> single = small_sample();
    single.pop_back();
    for (const bool deflate : {false, true})
        for (const bool zip64 : {false, true}) {
            write_npz(path_, single, {.deflate = deflate, .zip64 = zip64});
            expect_no_crash(folder_, "b.npz", read_text(path_), read_npz);
        }
}

TEST(Npz, ReadsAnArchiveOfPythons)
{
    const std::string path = std::string(SEGFOLD_SOURCE_DIR) + "/tests/data/flights/flights.npz";
    EXPECT_EQ(npz_names(path), (std::vector<std::string>{"arrival_delay", "aircraft"}));
    const Array delays = read_array(path + ":arrival_delay");
    EXPECT_EQ(delays.type(), Type::f32);
    EXPECT_EQ(delays.length(), 327346U);
    EXPECT_EQ(read_array(path + ":aircraft").as<std::uint16_t>().back(), 4036);
}

}  // namespace
}  // namespace segfold::npz_test
