// Columns of .csv files, as spreadsheets and data frames write them.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/data/formats/npz.h"
#include "tests/common/files.h"

namespace segfold::csv_test {
namespace {

class CsvTest : public testing::Test {
protected:
    void SetUp() override
    {
        (void)folder_.write("probe.csv", "x\n1\n");
        if (refusal([&] { (void)read_array(folder_.file("probe.csv")); }).find("libcsv") != std::string::npos)
            GTEST_SKIP() << "this build has no libcsv";
    }

    [[nodiscard]] Array column(const std::string& text, const std::string& name, Type type) const
    {
        return read_array_as(folder_.write("a.csv", text) + ":" + name, type);
    }
    /// The message, behind the file's path.
    [[nodiscard]] std::string message(const std::string& text, const std::string& name, Type type) const
    {
        return refusal([&] { (void)column(text, name, type); }, folder_.file("a.csv"));
    }

    TemporaryFolder folder_;
};

TEST_F(CsvTest, ReadsAColumnByItsName)
{
    const std::string text = "day, delay ,\"left \"\"early\"\"\"\n1,15.5,true\n2,-3e1,FALSE\n3,+7,0\n";
    EXPECT_EQ(to_vector<float>(column(text, "delay", Type::f32)), (std::vector<float>{15.5F, -30, 7}));
    EXPECT_EQ(to_vector<std::uint8_t>(column(text, "day", Type::u8)), (std::vector<std::uint8_t>{1, 2, 3}));
    EXPECT_EQ(to_vector<bool>(column(text, "left \"early\"", Type::boolean)),
              (std::vector<bool>{true, false, false}));
    EXPECT_EQ(column("day,delay\n", "delay", Type::f32).length(), 0U);
    EXPECT_EQ(column("x\n2049.0000000000001", "x", Type::f16).as<std::uint16_t>()[0], 0x6801)
        << "rounded once";
}

/// Ends of lines of all systems, a mark of the byte order, quoted numbers, text with commas and lines in it.
TEST_F(CsvTest, ReadsWhatOthersWrite)
{
    for (const std::string end : {"\n", "\r\n", "\r"})
        for (const bool ends : {true, false}) {
            const auto text = "\xef\xbb\xbfid,note,v" + end + "1,\"a, b" + end + "c\",\"2.5\"" + end +
                              "2,,-1" + (ends ? end : "");
            EXPECT_EQ(to_vector<double>(column(text, "v", Type::f64)), (std::vector<double>{2.5, -1}))
                << text;
            EXPECT_EQ(to_vector<std::int64_t>(column(text, "id", Type::i64)),
                      (std::vector<std::int64_t>{1, 2}));
        }
}

TEST_F(CsvTest, BlanksAreNan)
{
    const auto values = to_vector<double>(column("a,v\n1,2\n2,\n3, \n4,\"\"\n5,nan\n6,7\n", "v", Type::f64));
    ASSERT_EQ(values.size(), 6U);
    EXPECT_EQ(values[0], 2);
    for (std::size_t i = 1; i < 5; ++i)
        EXPECT_TRUE(std::isnan(values[i])) << i;
    EXPECT_EQ(values[5], 7);
    const auto lines = to_vector<float>(column("v\r\n1\r\n\r\n3\r\n", "v", Type::f32));
    ASSERT_EQ(lines.size(), 3U) << "an empty line of one column is a blank";
    EXPECT_TRUE(std::isnan(lines[1]));
    EXPECT_EQ(to_vector<std::uint16_t>(column("a,v\n1,\n", "v", Type::bf16)),
              std::vector<std::uint16_t>{0x7fc0});
    EXPECT_EQ(column("a,v\n\n1,2\n\n", "v", Type::f32).length(), 1U) << "an empty line of several is none";
    EXPECT_EQ(
        message("a,v\n1,2\n2,\n", "v", Type::i32),
        ":v: row 2 is blank, and type i32 has no value for that; let the operator take f64, where a blank "
        "is NaN, or fill it");
}

TEST_F(CsvTest, RefusesWhatIsNoNumberOfTheType)
{
    EXPECT_EQ(message("v\n1\n\"New York\"\n", "v", Type::f32),
              ":v: row 2 is 'New York', which is no number; texts become numbers by numpy.unique(column, "
              "return_inverse=True), others by a column that holds numbers alone");
    EXPECT_TRUE(
        message("v\n\"1,234\"\n", "v", Type::f32).starts_with(":v: row 1 is '1,234', which is no number"));
    EXPECT_EQ(message("v\n1\n300\n", "v", Type::u8),
              ":v: row 2 is 300, beyond the numbers of type u8, which holds 0 to 255");
    EXPECT_EQ(
        message("v\n1e39\n", "v", Type::f32),
        ":v: row 1 is 1e39, beyond the numbers of type f32, which holds -3.4028235e+38 to 3.4028235e+38");
    EXPECT_EQ(message("v\n2.5\n", "v", Type::i64),
              ":v: row 1 is 2.5, which is no value of type i64; let the operator take f64");
    EXPECT_TRUE(
        message("v\n2\n", "v", Type::boolean).starts_with(":v: row 1 is '2', which is no true, false"));
}

TEST_F(CsvTest, RefusesFilesThatAreNoTable)
{
    const auto v = [&](const std::string& text) { return message(text, "v", Type::f32); };
    EXPECT_EQ(v(""), ": is empty; its first line must name the columns");
    EXPECT_EQ(v("time,vv\n1,2\n"), ": has no column 'v'; its columns are time, vv; did you mean 'vv'?");
    EXPECT_EQ(v("v,v\n1,2\n"), ": has two columns named 'v'; names must differ");
    EXPECT_EQ(v("a,v\n1,2\n3\n"), ": row 2 has 1 cell, and the line of names has 2; they must agree");
    EXPECT_EQ(v("a,v\n1,2,3\n"), ": row 1 has 3 cells, and the line of names has 2; they must agree");
    EXPECT_TRUE(v("a,v\n1,2\n3,\"4\n").starts_with(": row 2: a quotation mark stands where none may"));
    EXPECT_TRUE(v("a,v\n5\" pipe,2\n").starts_with(": row 1: a quotation mark stands where none may"));
    const auto path = folder_.write("b.csv", "a,b\n1,2\n");
    EXPECT_EQ(refusal([&] { (void)read_array(path); }, path),
              ": has 2 columns, a, b; choose one, as in " + path + ":a");
    EXPECT_EQ(read_array(folder_.write("c.csv", "a\n1\n")).length(), 1U) << "the only one needs no name";
    expect_no_crash(folder_, "d.csv", "a,\"v\"\n1,\"2\"\n,\n\"\"\"\",3e5\n",
                    [](const std::string& file) { (void)read_array(file + ":v"); });
}

TEST_F(CsvTest, TypesAreThoseThatAllCellsFit)
{
    const auto type = [&](const std::string& cells) {
        return read_array_type(folder_.write("a.csv", "a,v\n" + cells) + ":v");
    };
    EXPECT_EQ(type("0,1\n0,-2\n"), Type::i64);
    EXPECT_EQ(type("0,1\n0,18446744073709551615\n"), Type::u64);
    EXPECT_EQ(type("0,1\n0,2.0\n"), Type::f64);
    EXPECT_EQ(type("0,1\n0,\n"), Type::f64) << "a blank is NaN";
    EXPECT_EQ(type("0,True\n0,False\n"), Type::boolean);
    EXPECT_EQ(type(""), Type::f64);
    EXPECT_EQ(read_array(folder_.file("a.csv") + ":v").type(), Type::f64);
}

}  // namespace
}  // namespace segfold::csv_test
