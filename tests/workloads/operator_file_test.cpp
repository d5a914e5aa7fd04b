// Operators in files: the text, and what is said of files that hold none.
#include "runtime/data/formats/operator_file.h"

#include <gtest/gtest.h>

#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::test::operator_file_test {
namespace {

constexpr const char* kTotal = "operator total(x: T) -> T { state s: T = 0 lift x combine(a, b) a + b }\n";

TEST(OperatorFile, GivesItsOperator)
{
    const TemporaryFolder folder;
    const auto op = read_operator(folder.write("total.seg", kTotal), Type::f64);
    EXPECT_EQ(op.name, "total");
    EXPECT_EQ(op.results.at(0).type, Type::f64);
}

TEST(OperatorFile, SaysWhatIsNone)
{
    const TemporaryFolder folder;
    EXPECT_EQ(message_of([&] { (void)read_operator(folder.file("none.seg")); }),
              folder.file("none.seg") + ": cannot be opened as an operator: No such file or directory");
    EXPECT_EQ(message_of([&] { (void)read_operator(folder.file("")); }),
              folder.file("") + ": is a folder; a regular file is needed");
    const auto large = folder.write("large.seg", std::string(kMostOperatorBytes + 1, ' '));
    EXPECT_EQ(message_of([&] { (void)read_operator(large); }),
              large + ": the text has 1048577 bytes; an operator may have 1048576");
    const auto generic = folder.write("generic.seg", kTotal);
    EXPECT_TRUE(message_of([&] { (void)read_operator(generic); }).starts_with(generic + ":1:19: "));
}

}  // namespace
}  // namespace segfold::test::operator_file_test
