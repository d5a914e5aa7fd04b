#pragma once
// Parses the words after the verb on the command line: flags with their values, and operands.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::cli {

using Words = std::vector<std::string>;

/// Largest seed that a flag accepts. It is the largest integer up to which JSON readers represent all
/// integers exactly.
inline constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;

/// Declaration of a flag of a verb.
struct Flag {
    std::string_view name;        ///< without the two hyphens
    std::string_view value = "";  ///< name of the flag's value in the help; empty if the flag takes no value
    bool repeats = false;
    /// Value used if no integer follows the flag; empty: a value is required.
    std::string_view otherwise = "";
};

/// Joins the flags of several groups, in order.
std::vector<Flag> join(std::initializer_list<std::span<const Flag>> groups);

/// The flags and operands given to one verb. If a flag's value is wrong, functions throw an InputError that
/// names the flag.
class Arguments {
public:
    /// Parses `words`, with `flags` and --json as the known flags.
    ///
    /// Throws InputError for unknown and abbreviated flags, for flags given twice, for missing values, and
    /// for more than `most_operands` operands. Messages call an operand `operand`.
    Arguments(std::string_view verb, const Words& words, std::vector<Flag> flags, std::size_t most_operands,
              std::string_view operand = "operator");

    [[nodiscard]] std::string_view verb() const { return verb_; }
    /// True if the verb declares the flag.
    [[nodiscard]] bool declares(std::string_view flag) const;
    [[nodiscard]] bool has(std::string_view flag) const;
    [[nodiscard]] std::optional<std::string> value(std::string_view flag) const;
    [[nodiscard]] std::vector<std::string> values(std::string_view flag) const;

    /// Returns the flag's value as an integer from `lowest` to `highest`. It may be written as 4096, 2^20 or
    /// 1e6.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view flag, std::int64_t lowest,
                                                      std::int64_t highest) const;
    /// Returns the index in `known` of the flag's value.
    [[nodiscard]] std::optional<std::size_t> choice(std::string_view flag,
                                                    std::span<const std::string_view> known) const;

    [[nodiscard]] const Words& operands() const { return operands_; }
    [[nodiscard]] bool json() const { return has("json"); }

    /// Throws an InputError with the message "--FLAG WHY" if `flag` is given.
    void refuse(std::string_view flag, const std::string& why) const;

private:
    struct Given {
        std::string name;
        std::string value;
    };

    void read(Words words);
    void check_repetition() const;
    [[nodiscard]] const Flag& flag(std::string_view name) const;
    [[noreturn]] void refuse_unknown(std::string_view word) const;

    std::string verb_;
    std::vector<Flag> flags_;
    std::vector<Given> given_;
    Words operands_;
};

}  // namespace segfold::cli
