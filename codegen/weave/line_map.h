#pragma once
// Maps lines of an emitted text to the lines of stages and parts from which they were copied.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/weave/weave.h"

namespace segfold {

/// For each line of a woven text, its number in `file`. The number 0 stands for an added blank line.
struct WovenLines {
    std::string file;
    std::vector<int> lines;
};

/// A woven text with the origins of its lines.
struct TracedWoven {
    Woven woven;
    std::vector<WovenLines> part_lines;  ///< one for each of `woven.parts`
    WovenLines body_lines;
};

/// Weaves a text like weave(), and keeps the origin of each line.
TracedWoven weave_traced(std::string_view file, std::string_view text, const Facts& facts,
                         const ReadPart& read_part);

/// Maps each line of an emitted text to its origin, the file and line of the stage or part from which it was
/// copied.
class LineMap {
public:
    /// Appends lines that the generator wrote, which have no origin.
    void add_generated(std::string_view text);
    /// Appends the lines of `file` with the numbers `lines`. The number 0 marks a line that the generator
    /// wrote.
    void add(const std::string& file, const std::vector<int>& lines);

    /// Returns the origin of a line, such as "kernels/stages/tile_scan.cu:37"; empty for a line that the
    /// generator wrote. Lines are counted from 1.
    [[nodiscard]] std::string origin(int line) const;

private:
    struct Origin {
        int file;  ///< index in files_; -1 for a line of the generator
        int line;
    };
    std::vector<std::string> files_;
    std::vector<Origin> origins_;
};

/// Replaces NAME:LINE and NAME(LINE) in a compiler's messages by the origin of the line, where NAME is
/// `text_name`. Renumbers the lines of quoted code in the same way. Lines without an origin stay unchanged.
[[nodiscard]] std::string name_origins(std::string_view messages, std::string_view text_name,
                                       const LineMap& lines);

}  // namespace segfold
