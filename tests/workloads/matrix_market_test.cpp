#include "runtime/data/formats/matrix_market.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>

#include "dsl/half.h"
#include "tests/common/files.h"

namespace segfold::matrix_market_test {
namespace {

using Integers = std::vector<std::int64_t>;

const std::string kBanner = "%%MatrixMarket matrix coordinate ";

std::string packed_by_gzip(const std::string& text)
{
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

TEST(MatrixMarket, ReadsRowsInTheFilesOrder)
{
    const TemporaryFolder folder;
    const auto path =
        folder.write("a.mtx",
                     "%%MatrixMarket MATRIX Coordinate Real General\n% a comment\n\n 4  3 6\n"
                     "3 1 1.5\n1 3 -2e1\r\n% another\n3 1 +0.25\n1\t1\t7\n4 2 .5\n\n1 2 1e-400\n");
    const SparseMatrix matrix = read_matrix_market(path, Type::f64);
    EXPECT_EQ(matrix.rows, 4);
    EXPECT_EQ(matrix.columns, 3);
    EXPECT_EQ(to_integers(matrix.offsets), (Integers{0, 3, 3, 5, 6}));
    EXPECT_EQ(matrix.column_indices.type(), Type::i32);
    EXPECT_EQ(to_integers(matrix.column_indices), (Integers{2, 0, 1, 0, 0, 1}));
    EXPECT_EQ(to_vector<double>(matrix.values), (std::vector<double>{-20, 7, 0, 1.5, 0.25, 0.5}));
}

TEST(MatrixMarket, ExpandsSymmetricMatrices)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.mtx", kBanner + "integer symmetric\n3 3 3\n1 1 5\n3 1 7\n3 2 -8\n");
    const SparseMatrix matrix = read_matrix_market(path, Type::i16);
    EXPECT_EQ(to_integers(matrix.offsets), (Integers{0, 2, 3, 5}));
    EXPECT_EQ(to_integers(matrix.column_indices), (Integers{0, 2, 2, 0, 1}));
    EXPECT_EQ(to_vector<std::int16_t>(matrix.values), (std::vector<std::int16_t>{5, 7, -8, 7, -8}));

    const auto skew = folder.write("b.mtx", kBanner + "real skew-symmetric\n2 2 1\n2 1 0.5");
    EXPECT_EQ(to_vector<float>(read_matrix_market(skew).values), (std::vector<float>{-0.5F, 0.5F}));
}

TEST(MatrixMarket, PatternsAreOnesOfAnyType)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.mtx", kBanner + "pattern general\n2 2 2\n2 2\n1 1\n");
    EXPECT_EQ(to_vector<float>(read_matrix_market(path).values), (std::vector<float>{1, 1}));
    EXPECT_EQ(to_vector<std::uint64_t>(read_matrix_market(path, Type::u64).values),
              (std::vector<std::uint64_t>{1, 1}));
    EXPECT_EQ(read_matrix_market(path, Type::f16).values.as<std::uint16_t>()[0], f32_to_f16(1));
    EXPECT_EQ(read_matrix_market(path, Type::bf16).values.as<std::uint16_t>()[0], f32_to_bf16(1));
}

TEST(MatrixMarket, ReadsUnsignedIntegers)
{
    const TemporaryFolder folder;
    const auto path =
        folder.write("a.mtx", kBanner + "unsigned-integer general\n2 2 2\n1 1 18446744073709551615\n2 2 3\n");
    EXPECT_EQ(to_vector<std::uint64_t>(read_matrix_market(path, Type::u64).values),
              (std::vector<std::uint64_t>{18446744073709551615U, 3}));
    EXPECT_EQ(to_vector<float>(read_matrix_market(path).values), (std::vector<float>{0x1p64F, 3}));
    EXPECT_TRUE(holds_integers(path));
}

/// Column by column in the file, row by row here, with all that symmetry leaves out.
TEST(MatrixMarket, ReadsArrays)
{
    const TemporaryFolder folder;
    const std::string banner = "%%MatrixMarket matrix array ";
    const auto general = read_matrix_market(
        folder.write("a.mtx", banner + "integer general\n% two rows\n2 3\n1\n4\n0\n5\n3\n6\n"), Type::i32);
    EXPECT_EQ(to_integers(general.offsets), (Integers{0, 3, 6}));
    EXPECT_EQ(to_integers(general.column_indices), (Integers{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(to_vector<std::int32_t>(general.values), (std::vector<std::int32_t>{1, 0, 3, 4, 5, 6}));
    const auto symmetric = read_matrix_market(
        folder.write("b.mtx", banner + "real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"), Type::f64);
    EXPECT_EQ(to_integers(symmetric.column_indices), (Integers{0, 1, 2, 0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(to_vector<double>(symmetric.values), (std::vector<double>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
    const auto skew =
        read_matrix_market(folder.write("c.mtx", banner + "real skew-symmetric\n3 3\n2\n3\n5\n"), Type::f64);
    EXPECT_EQ(to_integers(skew.offsets), (Integers{0, 3, 6, 9}));
    EXPECT_EQ(to_vector<double>(skew.values), (std::vector<double>{0, -2, -3, 2, 0, -5, 3, 5, 0}));
    EXPECT_EQ(to_integers(skew.column_indices), (Integers{0, 1, 2, 0, 1, 2, 0, 1, 2}));
    for (const auto* sizes : {"0 1000000000000000000", "0 0", "3 0"}) {
        const auto path = folder.write("d.mtx", banner + "real general\n" + sizes + "\n");
        EXPECT_EQ(read_matrix_market(path).values.length(), 0U) << sizes;
    }
    const auto message = [&](const std::string& text) {
        const auto path = folder.write("e.mtx", banner + text);
        return refusal([&] { read_matrix_market(path); }, path);
    };
    EXPECT_EQ(message("real general\n2 2\n1.25\n2\n3\n"), ":5: the file ends after 3 values, but it has 4");
    EXPECT_EQ(message("real general\n2 2\n1\n2\n3\n4\n5\n"),
              ":7: more lines follow the 4 values that the file has");
    EXPECT_EQ(message("real general\n4294967296 4294967296\n1\n"),
              ":2: claims 2^64 or more values, more than the 2 bytes that follow can hold");
    EXPECT_EQ(message("real symmetric\n2 3\n1\n"),
              ":2: a symmetric matrix of 2 rows and 3 columns; it must be square");
    EXPECT_EQ(message("real general\n1 1\n1 2\n"), ":3: '2' follows where the line should end");
}

TEST(MatrixMarket, ReadsZerosOnTheDiagonalOfASkewMatrix)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.mtx", kBanner + "real skew-symmetric\n2 2 3\n1 1 0\n2 1 5\n2 2 -0.0\n");
    EXPECT_EQ(to_vector<float>(read_matrix_market(path).values), (std::vector<float>{0, -5, 5, 0}));
    const auto whole = folder.write("b.mtx", kBanner + "integer skew-symmetric\n2 2 1\n2 2 0\n");
    EXPECT_EQ(to_vector<std::uint8_t>(read_matrix_market(whole, Type::u8).values),
              std::vector<std::uint8_t>{0});
}

/// Fortran writes a D before the exponent of a number of double precision.
TEST(MatrixMarket, ReadsExponentsOfFortran)
{
    const TemporaryFolder folder;
    const auto path =
        folder.write("a.mtx", kBanner + "real general\n1 3 3\n1 1 1.5D+01\n1 2 -2d-1\n1 3 0.25E+1\n");
    EXPECT_EQ(to_vector<double>(read_matrix_market(path, Type::f64).values),
              (std::vector<double>{15, -0.2, 2.5}));
    const auto wrong = folder.write("b.mtx", kBanner + "real general\n1 1 1\n1 1 1.5D+D\n");
    EXPECT_EQ(refusal([&] { read_matrix_market(wrong); }, wrong),
              ":3: the value is '1.5D+D'; it must be a number");
}

/// What a wider type has as the middle of two numbers lies above it.
TEST(MatrixMarket, RoundsOnce)
{
    const TemporaryFolder folder;
    const auto bits = [&](const std::string& kind, const std::string& value, Type type) {
        const auto path = folder.write("a.mtx", kBanner + kind + " general\n1 1 1\n1 1 " + value + "\n");
        std::uint32_t found = 0;
        const auto matrix = read_matrix_market(path, type);
        std::memcpy(&found, matrix.values.data(), size_bytes(type));
        return found;
    };
    EXPECT_EQ(bits("real", "1.00000005960464477540", Type::f32), 0x3f800001U);
    EXPECT_EQ(bits("real", "2049.0000000000001", Type::f16), 0x6801U);
    EXPECT_EQ(bits("real", "257.0000001", Type::bf16), 0x4381U);
    EXPECT_EQ(bits("integer", "9007199791611905", Type::f32), 0x5a000001U);
    EXPECT_EQ(bits("integer", "16842753", Type::bf16), 0x4b81U);
}

/// Packed by gzip, in one piece or several, whatever the name says.
TEST(MatrixMarket, ReadsPackedFiles)
{
    const TemporaryFolder folder;
    const std::string text = kBanner + "real general\n2 2 2\n1 1 1.5\n2 2 -3\n";
    const auto packed = packed_by_gzip(text);
    for (const auto& bytes : {packed, packed_by_gzip(text.substr(0, 50)) + packed_by_gzip(text.substr(50))}) {
        const auto path = folder.write("a.mtx.gz", bytes);
        EXPECT_EQ(to_vector<float>(read_matrix_market(path).values), (std::vector<float>{1.5F, -3}));
        EXPECT_FALSE(holds_integers(path));
    }
    const auto message = [&](const std::string& bytes) {
        const auto path = folder.write("b.mtx", bytes);
        return refusal([&] { read_matrix_market(path); }, path);
    };
    EXPECT_EQ(message(packed.substr(0, packed.size() - 5)), ": is truncated: its packed bytes end early");
    std::string damaged = packed;
    damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
    EXPECT_NE(message(damaged), "nothing was refused");
    EXPECT_EQ(message(packed + "more"), ": is damaged: its packed bytes are not valid");
    expect_no_crash(folder, "c.mtx.gz", packed, [](const std::string& path) { read_matrix_market(path); });
}

TEST(MatrixMarket, MayBeEmpty)
{
    const TemporaryFolder folder;
    const SparseMatrix none = read_matrix_market(folder.write("a.mtx", kBanner + "real general\n0 0 0\n"));
    EXPECT_EQ(to_integers(none.offsets), (Integers{0}));
    const SparseMatrix zeros = read_matrix_market(folder.write("b.mtx", kBanner + "real general\n2 5 0"));
    EXPECT_EQ(to_integers(zeros.offsets), (Integers{0, 0, 0}));
}

TEST(MatrixMarket, RefusesBanners)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.mtx");
    const auto message = [&](const std::string& text) {
        EXPECT_EQ(folder.write("a.mtx", text), path);
        return refusal([&] { read_matrix_market(path); }, path);
    };
    EXPECT_EQ(refusal([&] { read_matrix_market(path); }, path),
              ": cannot be opened: No such file or directory");
    EXPECT_EQ(message(""), ": is not a Matrix Market file: it does not start with '%%MatrixMarket'");
    EXPECT_EQ(message("1 2 3\n"), ":1: is not a Matrix Market file: it does not start with '%%MatrixMarket'");
    EXPECT_EQ(message("%%MatrixMarket matrix list real general\n"),
              ":1: the format is 'list'; it must be one of coordinate, array");
    EXPECT_EQ(message("%%MatrixMarket matrix array pattern general\n"),
              ":1: an array has values, and a pattern has none; the format must be coordinate");
    EXPECT_EQ(message(kBanner + "complex general\n"),
              ":1: the field is 'complex'; it must be one of real, integer, pattern, double, "
              "unsigned-integer");
    EXPECT_EQ(
        message(kBanner + "real symetric\n"),
        ":1: the symmetry is 'symetric'; it must be one of general, symmetric, skew-symmetric; did you mean "
        "'symmetric'?");
    EXPECT_EQ(message(kBanner + "real general more\n"), ":1: 'more' follows where the line should end");
    EXPECT_EQ(message(kBanner + "real general\n% only\n"),
              ":2: the file ends before the line of rows, columns and entries");
    EXPECT_EQ(message(kBanner + "real general\n2 2\n"), ":2: the number of entries is missing");
    EXPECT_EQ(message(kBanner + "real general\n2 -2 1\n1 1 1\n"),
              ":2: the sizes are 2, -2 and 1; none may be negative");
    EXPECT_EQ(message(kBanner + "real symmetric\n2 3 0\n"),
              ":2: a symmetric matrix of 2 rows and 3 columns; it must be square");
    EXPECT_EQ(message(kBanner + "real general\n9 9 1152921504606846976\n1 1 1\n"),
              ":2: claims 1152921504606846976 entries, more than the 6 bytes that follow can hold");
    EXPECT_EQ(
        message(kBanner + "real general\n1152921504606846976 9 1\n1 1 1\n"),
        ":2: claims 1152921504606846976 rows for 1 entries; at most 64 rows per entry are taken for real");
}

TEST(MatrixMarket, RefusesEntries)
{
    const TemporaryFolder folder;
    const auto message = [&](const std::string& kind, const std::string& entries, Type type = Type::f32) {
        const std::string path = folder.write("a.mtx", kBanner + kind + "\n2 2 2\n" + entries);
        return refusal([&] { read_matrix_market(path, type); }, path);
    };
    EXPECT_EQ(message("real general", "1 1 1\n3 1 1\n"),
              ":4: row 3 is outside of the matrix; rows are 1 to 2");
    EXPECT_EQ(message("real general", "0 1 1\n1 1 1\n"),
              ":3: row 0 is outside of the matrix; rows are 1 to 2");
    EXPECT_EQ(message("real general", "1 5 1\n1 1 1\n"),
              ":3: column 5 is outside of the matrix; columns are 1 to 2");
    EXPECT_EQ(message("real general", "1 1\n1 1 1\n"), ":3: the value is missing");
    EXPECT_EQ(message("real general", "1 1 one\n1 1 1\n"), ":3: the value is 'one'; it must be a number");
    EXPECT_EQ(message("integer general", "1 1 1.5\n1 1 1\n"),
              ":3: the value is '1.5'; it must be an integer");
    EXPECT_EQ(message("integer general", "1 1 18446744073709551616\n1 1 1\n", Type::u64),
              ":3: the value '18446744073709551616' is beyond the numbers of type u64, which holds 0 to "
              "18446744073709551615");
    EXPECT_EQ(message("integer general", "1 36893488147419103232 1\n1 1 1\n"),
              ":3: the column '36893488147419103232' has more than 64 bits");
    EXPECT_EQ(message("real general", "1 1 1e400\n1 1 1\n"),
              ":3: the value '1e400' is beyond the numbers of type f32, which holds -3.4028235e+38 to "
              "3.4028235e+38");
    EXPECT_EQ(message("integer general", "1 1 +-5\n1 1 1\n"),
              ":3: the value is '+-5'; it must be an integer");
    EXPECT_EQ(message("real general", "1 1 1 1\n1 1 1\n"), ":3: '1' follows where the line should end");
    EXPECT_EQ(message("real general", "1 1 1.0000\n"), ":3: the file ends after 1 entries, but it claims 2");
    EXPECT_EQ(message("real general", "1 1 1\n1 2 1\n\n2 2 1\n"),
              ":6: more lines follow the 2 entries that the file claims");
    EXPECT_EQ(message("real symmetric", "1 2 1\n1 1 1\n"),
              ":3: entry (1, 2) lies above the diagonal; a symmetric matrix is given by its lower triangle");
    EXPECT_EQ(message("real skew-symmetric", "1 1 1\n2 1 1\n"),
              ":3: entry (1, 1) is 1; the diagonal of a skew-symmetric matrix is zero");
    EXPECT_EQ(message("real general", "1 1 1\n1 2 1\n", Type::i32),
              ": holds real values, but i32 is needed; ask for f16, bf16, f32 or f64");
    EXPECT_EQ(message("integer general", "1 1 1\n1 2 1\n", Type::boolean),
              ": matrix values cannot be read as bool; ask for a number's type");
    EXPECT_EQ(
        message("integer skew-symmetric", "2 1 -9223372036854775808\n2 1 1\n", Type::i64),
        ":3: the value -9223372036854775808 is mirrored as 9223372036854775808 in a skew-symmetric matrix, "
        "and type i64 holds -9223372036854775808 to 9223372036854775807");
}

TEST(MatrixMarket, RefusesValuesBeyondTheType)
{
    const TemporaryFolder folder;
    const auto message = [&](const std::string& kind, const std::string& value, Type type) {
        const auto path = folder.write("a.mtx", kBanner + kind + "\n2 2 2\n1 1 1\n2 1 " + value + "\n");
        return refusal([&] { read_matrix_market(path, type); }, path);
    };
    const auto beyond = [](const std::string& value, const std::string& type, const std::string& range) {
        return ":4: the value '" + value + "' is beyond the numbers of type " + type + ", which holds " +
               range;
    };
    const std::string of_f64 = "-1.7976931348623157e+308 to 1.7976931348623157e+308";
    EXPECT_EQ(message("real general", "1e400", Type::f64), beyond("1e400", "f64", of_f64));
    EXPECT_EQ(message("real general", "-1e400", Type::f64), beyond("-1e400", "f64", of_f64));
    EXPECT_EQ(message("real general", "+1e400", Type::f64), beyond("+1e400", "f64", of_f64));
    EXPECT_EQ(message("real general", "1e39", Type::f32),
              beyond("1e39", "f32", "-3.4028235e+38 to 3.4028235e+38"));
    EXPECT_EQ(message("real general", "65520", Type::f16), beyond("65520", "f16", "-65504 to 65504"));
    EXPECT_EQ(message("real general", "-3.4e38", Type::bf16),
              beyond("-3.4e38", "bf16", "-3.3895314e+38 to 3.3895314e+38"));
    EXPECT_EQ(message("integer general", "65520", Type::f16), beyond("65520", "f16", "-65504 to 65504"));
    EXPECT_EQ(message("integer general", "300", Type::u8), beyond("300", "u8", "0 to 255"));
    EXPECT_EQ(message("integer general", "-1", Type::u64), beyond("-1", "u64", "0 to 18446744073709551615"));
    EXPECT_EQ(message("integer general", "-129", Type::i8), beyond("-129", "i8", "-128 to 127"));
    const auto skew = folder.write("b.mtx", kBanner + "integer skew-symmetric\n2 2 1\n2 1 5\n");
    EXPECT_EQ(refusal([&] { read_matrix_market(skew, Type::u8); }, skew),
              ":3: the value 5 is mirrored as -5 in a skew-symmetric matrix, and type u8 holds 0 to 255");
    const auto words =
        folder.write("c.mtx", kBanner + "real general\n1 4 4\n1 1 inf\n1 2 -inf\n1 3 +inf\n1 4 nan\n");
    for (const auto type : {Type::f32, Type::f64})
        EXPECT_EQ(read_matrix_market(words, type).values.length(), 4U) << "infinities that are written";
    EXPECT_TRUE(std::isinf(to_vector<float>(read_matrix_market(words).values)[1]));
}

TEST(MatrixMarket, SurvivesDamage)
{
    const TemporaryFolder folder;
    const auto read = [](const std::string& path) { read_matrix_market(path, Type::f64); };
    expect_no_crash(folder, "a.mtx", kBanner + "real symmetric\n%\n3 3 2\n1 1 5.5\n3 1 -7e3\n", read);
    expect_no_crash(folder, "b.mtx", kBanner + "integer general\n300 3 2\n100 1 5\n3 1 -7\n", read);
}

}  // namespace
}  // namespace segfold::matrix_market_test
