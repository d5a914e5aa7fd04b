#pragma once
// Where the lines of an emitted text come from.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/weave/weave.h"

namespace segfold {

/// A file that lines were taken from, and for each line here its line there; 0 for an added blank line.
struct WovenLines {
    std::string file;
    std::vector<int> lines;
};

/// A woven text with where its lines come from.
struct TracedWoven {
    Woven woven;
    std::vector<WovenLines> part_lines;  ///< of each of `woven.parts`
    WovenLines body_lines;
};

/// weave() that keeps the origin of each line.
TracedWoven weave_traced(std::string_view file, std::string_view text, const Facts& facts,
                         const ReadPart& read_part);

/// For each line of a text the line of the stage or part that it was taken from.
class LineMap {
public:
    /// Adds the lines of a text that the generator wrote.
    void add_generated(std::string_view text);
    /// Adds lines that were taken from `lines` of `file`; 0 is a line of the generator's.
    void add(const std::string& file, const std::vector<int>& lines);

    /// "kernels/stages/tile_scan.cu:37" for a line counted from 1; empty for a line of the generator's.
    [[nodiscard]] std::string origin(int line) const;

private:
    struct Origin {
        int file;  ///< place in files_; -1: the generator's
        int line;
    };
    std::vector<std::string> files_;
    std::vector<Origin> origins_;
};

/// A compiler's messages on the text that it knows as `text_name`: NAME:LINE and NAME(LINE) become the places
/// that the lines were taken from, where there are such, and so do the numbers before the lines it shows.
[[nodiscard]] std::string name_origins(std::string_view messages, std::string_view text_name,
                                       const LineMap& lines);

}  // namespace segfold
