#include "runtime/data/formats/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/data/array_source.h"
#include "runtime/data/formats/npz.h"
#include "tests/common/files.h"

namespace segfold::npy_test {
namespace {

const std::string kMagic = "\x93NUMPY";

/// An .npy file with this dictionary, in the format version's own length field.
std::string npy_file(const std::string& dictionary, const std::string& data, int major = 1)
{
    std::string file = kMagic + static_cast<char>(major) + '\0';
    const std::size_t size = dictionary.size();
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
        file += static_cast<char>(size >> (8 * i) & 0xff);
    return file + dictionary + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, const std::string& order = "False")
{
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

TEST(Npy, ReadsWhatItWritesInEveryType)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npy");
    for (const Type type : kTypes) {
        for (const std::size_t length : {0, 1, 1000}) {
            Array array(type, length);
            for (std::size_t i = 0; i < array.bytes(); ++i)
                array.data()[i] = static_cast<std::byte>(type == Type::boolean ? i % 2 : 7 * i);
            write_npy(path, array);
            const Array read = read_array_as(path, type);
            EXPECT_EQ(read.type(), type);
            ASSERT_EQ(read.length(), length);
            EXPECT_TRUE(std::equal(read.data(), read.data() + read.bytes(), array.data())) << name(type);
            EXPECT_EQ(read_array(path).type(), type == Type::bf16 ? Type::u16 : type);
        }
    }
    EXPECT_EQ(folder.count(), 1U) << "a temporary file is left over";
}

TEST(Npy, WritesTheBytesThatNumpyWrites)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npy");
    write_npy(path, make_array<std::int16_t>(Type::i16, {1, -2}));
    const std::string text = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }";
    EXPECT_EQ(read_text(path), kMagic + std::string("\x01\x00\x76\x00", 4) + text +
                                   std::string(117 - text.size(), ' ') + "\n" +
                                   std::string("\x01\x00\xfe\xff", 4));
    write_npy(path, make_array<std::uint8_t>(Type::u8, {1}));
    EXPECT_NE(read_text(path).find("'|u1'"), std::string::npos);
}

TEST(Npy, ReadsEveryFormatVersion)
{
    const TemporaryFolder folder;
    for (const int major : {1, 2, 3}) {
        const auto path =
            folder.write("a.npy", npy_file(dictionary("'<i2'", "(2,)"), std::string("\1\0\2\0", 4), major));
        EXPECT_EQ(to_vector<std::int16_t>(read_array(path)), (std::vector<std::int16_t>{1, 2})) << major;
    }
}

TEST(Npy, ReadsHeadersThatOthersWrite)
{
    const TemporaryFolder folder;
    for (const std::string& text :
         {std::string("{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<i2\"}"),
          std::string("{ 'descr' : '<i2' , 'fortran_order' : False , 'shape' : ( 2 , ) }    \n"),
          std::string("{'descr':'=i2','fortran_order':False,'shape':(2)}")}) {
        const auto path = folder.write("a.npy", npy_file(text, std::string("\1\0\2\0", 4)));
        EXPECT_EQ(to_vector<std::int16_t>(read_array(path)), (std::vector<std::int16_t>{1, 2})) << text;
    }
}

TEST(Npy, BoolsBecomeZeroAndOne)
{
    const TemporaryFolder folder;
    const auto path =
        folder.write("a.npy", npy_file(dictionary("'|b1'", "(3,)"), std::string("\0\1\x80", 3)));
    EXPECT_EQ(to_vector<bool>(read_array(path)), (std::vector<bool>{false, true, true}));
    EXPECT_EQ(read_array(path).as<std::uint8_t>()[2], 1);
}

TEST(Npy, Bfloat16IsReadOnRequest)
{
    const TemporaryFolder folder;
    for (const char* descr : {"'<u2'", "'<V2'", "'|V2'"}) {
        const auto path =
            folder.write("a.npy", npy_file(dictionary(descr, "(1,)"), std::string("\x80\x3f", 2)));
        const Array array = read_array_as(path, Type::bf16);
        EXPECT_EQ(array.type(), Type::bf16);
        EXPECT_EQ(array.as<std::uint16_t>()[0], 0x3f80);
    }
}

TEST(Npy, RefusesFilesThatAreNone)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npy");
    const auto message = [&](const std::string& bytes) {
        EXPECT_EQ(folder.write("a.npy", bytes), path);
        return refusal([&] { read_array(path); }, path);
    };
    EXPECT_EQ(refusal([&] { read_array(path); }, path), ": cannot be opened: No such file or directory");
    EXPECT_EQ(message(""), ": is empty; an .npy file is needed");
    EXPECT_EQ(message("1.5\n2.5\n"),
              ": is not an .npy file: it does not start with '\\x93NUMPY'; a column of text with commas is "
              "read as FILE.csv:COLUMN, where the first line names the columns");
    EXPECT_EQ(message(std::string("\1\0\2\0\3\0\4\0", 8)),
              ": is not an .npy file: it does not start with '\\x93NUMPY'");
    EXPECT_EQ(message("\x93NUM"), ": is truncated: it ends after 4 bytes, within the .npy header");
    EXPECT_EQ(message(kMagic + std::string("\1\0\x76", 3)),
              ": is truncated: it ends after 9 bytes, within the .npy header");
    EXPECT_EQ(message(kMagic + std::string("\1\0\x76\0{}", 6)),
              ": is truncated: its header takes 118 bytes, but 2 follow");
    EXPECT_EQ(message(kMagic + std::string("\4\0\0\0", 4)),
              ": is of .npy format version 4.0; 1.0, 2.0 and 3.0 are read");
    EXPECT_EQ(message(kMagic + std::string("\2\0\xff\xff\xff\xff", 6)),
              ": claims a header of 4294967295 bytes; at most 1048576 are read");
    const std::string folder_path = std::filesystem::path(path).parent_path().string();
    EXPECT_EQ(refusal([&] { read_array(folder_path); }, folder_path),
              ": is a folder; a regular file is needed");
    EXPECT_EQ(refusal([&] { read_array("/dev/null"); }),
              "/dev/null: is neither a regular file nor a pipe; one of them is needed");
}

TEST(Npy, RefusesDataThatDisagreesWithTheHeader)
{
    const TemporaryFolder folder;
    const auto message = [&](const std::string& shape, const std::string& data) {
        const std::string path = folder.write("a.npy", npy_file(dictionary("'<i4'", shape), data));
        return refusal([&] { read_array(path); }, path);
    };
    EXPECT_EQ(message("(2,)", "1234567"),
              ": is truncated: 2 elements of i32 take 8 bytes, but 7 follow the header");
    EXPECT_EQ(message("(2,)", "123456789"),
              ": is too long: 2 elements of i32 take 8 bytes, but 9 follow the header");
    EXPECT_EQ(message("(1152921504606846976,)", "1234"),
              ": is truncated: 1152921504606846976 elements of i32 take 4611686018427387904 bytes, but 4 "
              "follow the "
              "header");
    EXPECT_EQ(message("(18446744073709551615,)", "1234"),
              ": claims 18446744073709551615 elements of i32, more than any file can hold");
}

/// Of one dimension that is longer than 1 both orders are the same bytes.
TEST(Npy, ReadsVectorsInFortranOrder)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.npy", npy_file(dictionary("'<i2'", "(4,)", "True"), "12345678"));
    EXPECT_EQ(to_vector<std::int16_t>(read_array(path)),
              (std::vector<std::int16_t>{0x3231, 0x3433, 0x3635, 0x3837}));
    EXPECT_EQ(npy_source(path, Type::i16)->length(), 4) << "in parts too";
    for (const auto& [shape, width] : {std::pair("(4, 1)", 1U), std::pair("(1, 4)", 4U)}) {
        (void)folder.write("a.npy", npy_file(dictionary("'<i2'", shape, "True"), "12345678"));
        EXPECT_EQ(read_rows_as(path, Type::i16).row_length(), width) << shape;
    }
    (void)folder.write("a.npy", npy_file(dictionary("'<i2'", "(2, 2)", "True"), "12345678"));
    EXPECT_EQ(refusal([&] { read_rows_as(path, Type::i16); }, path),
              ": is in Fortran order, and rows lie in C order; save it with numpy.ascontiguousarray(array)");
}

/// What goes on with a run must not mix arrays, and who writes over a file may keep its size and its time.
TEST(Npy, FingerprintsTellFilesOfOneSizeAndTimeApart)
{
    const TemporaryFolder folder;
    const std::size_t length = std::size_t{3} << 20;
    const auto header = npy_header(Type::u8, length);
    std::string bytes(length, 'a');
    const auto path = folder.write("x.npy", header + bytes);
    const auto time = std::filesystem::last_write_time(path);
    const auto fingerprint = [&] {
        (void)folder.write("x.npy", header + bytes);
        std::filesystem::last_write_time(path, time);
        return npy_source(path, Type::u8)->fingerprint();
    };
    const auto first = fingerprint();
    EXPECT_EQ(fingerprint(), first);
    for (const std::size_t place :
         {std::size_t{0}, std::size_t{1} << 19, length - 1, length - (std::size_t{1} << 19)}) {
        bytes[place] = 'b';
        EXPECT_NE(fingerprint(), first) << place;
        bytes[place] = 'a';
    }
}

TEST(Npy, RefusesShapesAndOrders)
{
    const TemporaryFolder folder;
    const auto message = [&](const std::string& shape, const std::string& order) {
        const std::string path =
            folder.write("a.npy", npy_file(dictionary("'<i4'", shape, order), "12345678"));
        return refusal([&] { read_array(path); }, path);
    };
    EXPECT_EQ(message("(2, 1)", "False"),
              ": has 2 dimensions, shape (2, 1); one is needed: save it with array.reshape(-1)");
    EXPECT_EQ(message("(1, 2)", "False"),
              ": has 2 dimensions, shape (1, 2); one is needed: if it holds keys of several columns, save "
              "numpy.unique(array, axis=0, return_inverse=True)[1], else save it with array.reshape(-1)");
    EXPECT_EQ(message("()", "False"),
              ": has 0 dimensions, shape (); one is needed: save it with array.reshape(-1)");
    const std::string path = folder.write("a.npy", npy_file(dictionary("'<i4'", "(2, 1)"), "12345678"));
    EXPECT_EQ(
        refusal([&] { read_array_as(path, Type::i32); }, path),
        ": has 2 dimensions, shape (2, 1); one is needed: save it with array.reshape(-1), which makes each "
        "number an element, or give it to an operator over rows (x: row f32)");
    EXPECT_EQ(message("(1, 2, 2)", "True"),
              ": has 3 dimensions, shape (1, 2, 2); one is needed: save it with array.reshape(-1)");
    EXPECT_EQ(message("(2, 1)", "True"), message("(2, 1)", "False")) << "both orders are the same";
}

TEST(Npy, RefusesElementTypes)
{
    const TemporaryFolder folder;
    const auto message = [&](const std::string& descr) {
        const std::string path = folder.write("a.npy", npy_file(dictionary(descr, "(1,)"), "12345678"));
        return refusal([&] { read_array(path); }, path);
    };
    const std::string known =
        "; the element types read are bool, int8 to int64, uint8 to uint64, float16, float32 and float64";
    const std::string unique = "; numpy.unique(array, return_inverse=True) gives an integer for each string";
    EXPECT_EQ(message("'>f4'"),
              ": holds big-endian elements (dtype '>f4'); save it with array.astype('<f4')");
    EXPECT_EQ(message("'<U2'"), ": holds strings (dtype '<U2')" + known + unique);
    EXPECT_EQ(message("'|S8'"), ": holds strings (dtype '|S8')" + known + unique);
    EXPECT_EQ(message("'<c8'"), ": holds complex numbers (dtype '<c8')" + known +
                                    "; save array.real and array.imag as an array each");
    EXPECT_EQ(message("'|O'"), ": holds Python objects (dtype '|O')" + known);
    EXPECT_EQ(message("'<M8[ns]'"), ": holds dates or times (dtype '<M8[ns]')" + known +
                                        "; save them as int64 with array.view('i8')");
    EXPECT_EQ(message("'<f16'"), ": holds elements (dtype '<f16')" + known);
    EXPECT_EQ(message("'|V2'"),
              ": holds void elements (dtype '|V2')" + known + "; ask for bf16 if they are bfloat16");
    EXPECT_EQ(message("''"), ": holds elements (dtype '')" + known);
    EXPECT_EQ(message("[('x', '<f4'), ('y', '<i4', (2,))]"),
              ": holds structured elements; save each field as an array of its own");
    const std::string path = folder.write("a.npy", npy_file(dictionary("'<f8'", "(1,)"), "12345678"));
    EXPECT_EQ(refusal([&] { read_array_as(path, Type::f32); }, path),
              ": holds f64, but f32 is needed; save it with array.astype(numpy.float32), which may change "
              "values, or let the operator take f64");
    EXPECT_EQ(refusal([&] { read_array_as(path, Type::bf16); }, path),
              ": holds f64, but bf16 is needed; save the bits of bfloat16 elements as uint16");
}

TEST(Npy, RefusesMalformedHeaders)
{
    const TemporaryFolder folder;
    const auto message = [&](const std::string& text) {
        const std::string path = folder.write("a.npy", npy_file(text, ""));
        return refusal([&] { read_array(path); }, path);
    };
    const auto malformed = [](int place, const std::string& found, const std::string& wanted) {
        return ": the header is malformed at byte " + std::to_string(place) + " of its text: " + found +
               " where " + wanted + " should be; it must be a dictionary of descr, fortran_order and shape";
    };
    EXPECT_EQ(message(""), malformed(0, "its end", "'{'"));
    EXPECT_EQ(message("{'descr' '<f4'}"), malformed(9, "byte 0x27", "':'"));
    EXPECT_EQ(message("{'descr': '<f4"), malformed(14, "its end", "a closing quote"));
    EXPECT_EQ(message("{'descr': '<f4', 'descr': '<f4'}"),
              malformed(17, "byte 0x27", "each of descr, fortran_order and shape once"));
    EXPECT_EQ(message("{'shape': (-1,)}"), malformed(11, "byte 0x2d", "a non-negative integer or ')'"));
    EXPECT_EQ(message("{'shape': (99999999999999999999,)}"),
              ": the header's shape holds 99999999999999999999, which does not fit 64 bits");
    EXPECT_EQ(message("{'fortran_order': 0}"), malformed(18, "byte 0x30", "True or False"));
    EXPECT_EQ(message("{'fortran_order': False} {"), malformed(25, "byte 0x7b", "nothing more"));
    EXPECT_EQ(message("{'fortran_order': False}"),
              ": the header lacks 'descr'; an .npy header holds descr, fortran_order and shape");
}

TEST(Npy, RefusesToWriteWhereItCannot)
{
    const Array array(Type::i32, 3);
    EXPECT_EQ(refusal([&] { write_npy("/no/such/folder/a.npy", array); }),
              "/no/such/folder/a.npy: cannot be written: No such file or directory");
    write_npy("/dev/null", array);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Npy, ReplacesTheFileBehindALink)
{
    const TemporaryFolder folder;
    const std::string target = folder.write("target.npy", "old"), link = folder.file("link.npy");
    std::filesystem::create_symlink(target, link);
    write_npy(link, make_array<std::int32_t>(Type::i32, {5}));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read_array(target).as<std::int32_t>()[0], 5);
}

TEST(Npy, MakesTheFileThatALinkLeadsTo)
{
    const TemporaryFolder folder;
    std::filesystem::create_symlink("second.npy", folder.file("link.npy"));
    std::filesystem::create_symlink(folder.file("target.npy"), folder.file("second.npy"));
    write_npy(folder.file("link.npy"), make_array<std::int32_t>(Type::i32, {5}));
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link.npy")));
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("second.npy")));
    EXPECT_EQ(read_array(folder.file("target.npy")).as<std::int32_t>()[0], 5);

    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(ends[1]), folder.file("pipe.npy"));
    write_npy(folder.file("pipe.npy"), make_array<std::int32_t>(Type::i32, {5}));
    char begin[7] = {};
    EXPECT_EQ(read(ends[0], begin, 6), 6);
    EXPECT_STREQ(begin, "\x93NUMPY");
    close(ends[0]);
    close(ends[1]);

    const auto circle = folder.file("circle.npy");
    std::filesystem::create_symlink(circle, circle);
    try {
        write_npy(circle, make_array<std::int32_t>(Type::i32, {5}));
        FAIL() << "a circle of links was written to";
    } catch (const InputError& error) {
        EXPECT_EQ(error.what(), circle + ": cannot be written: its links lead in a circle");
    }
}

TEST(Npy, SurvivesDamage)
{
    const TemporaryFolder folder;
    const std::string text = dictionary("[('x', '<f4')]", "(2, 3)", "True");
    expect_no_crash(folder, "a.npy", npy_header(Type::i32, 3) + "123456789012", read_array);
    expect_no_crash(folder, "b.npy", npy_file(text, "1234", 2), read_array);
}

}  // namespace
}  // namespace segfold::npy_test
