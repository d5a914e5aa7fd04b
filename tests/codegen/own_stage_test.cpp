// Stages of a user's own folder, laid over the program's.
#include <gtest/gtest.h>

#include "codegen/catalogue.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::own_stage_test {
namespace {

std::string stage_text(const std::string& name)
{
    return "//% title   One thread, one segment\n//% stage   " + name +
           "\n//% source  none\n//% layout  offsets\n//% launch  reduce  grid = 1  block = 32\n";
}

// A file takes the place of the program's of the same name: if its stage had another one, that of the program
// would be gone, and stages that come after it with it.
TEST(OwnStages, HaveTheNamesOfTheirFiles)
{
    const TemporaryFolder folder;
    const auto path = folder.write("stages/tile_scan.cu", stage_text("mine"));
    const auto overlaid = [&] { (void)Catalogue::overlaid(folder.file("")); };
    EXPECT_EQ(test::message_of<SpecError>(overlaid),
              path +
                  ":2: stage 'mine' is in a file 'tile_scan'; a stage has the name of its file: write "
                  "//% stage tile_scan, or call the file mine.cu");
    std::filesystem::rename(path, folder.file("stages/mine.cu"));
    EXPECT_EQ(Catalogue::overlaid(folder.file("")).stage("mine").file, "stages/mine.cu");
    EXPECT_EQ(Catalogue::overlaid(folder.file("")).stage("tile_scan").file, "stages/tile_scan.cu");
}

}  // namespace
}  // namespace segfold::own_stage_test
