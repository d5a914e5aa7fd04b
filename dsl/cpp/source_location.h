#pragma once
// The place of a call in the caller's source, for compilers with and without std::source_location.
#include <cstdint>
#include <version>

#ifdef __cpp_lib_source_location
#include <source_location>
#endif

namespace segfold {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else
/// The part of std::source_location that the language uses. Clang before 16 lacks the original when it uses
/// GCC's library.
class SourceLocation {
public:
    /// As a default argument, returns the place of the call.
    static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                            std::uint_least32_t line = __builtin_LINE(),
                                            std::uint_least32_t column = __builtin_COLUMN())
    {
        SourceLocation here;
        here.file_ = file;
        here.line_ = line;
        here.column_ = column;
        return here;
    }
    [[nodiscard]] constexpr const char* file_name() const { return file_; }
    [[nodiscard]] constexpr std::uint_least32_t line() const { return line_; }
    [[nodiscard]] constexpr std::uint_least32_t column() const { return column_; }

private:
    const char* file_ = "";
    std::uint_least32_t line_ = 0;
    std::uint_least32_t column_ = 0;
};
#endif

}  // namespace segfold
