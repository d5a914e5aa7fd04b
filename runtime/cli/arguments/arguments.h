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

/// Largest seed that a flag accepts. JSON readers represent all integers up to this one exactly.
inline constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;

/// Declaration of a flag of a verb.
struct Flag {
    std::string_view name;        ///< without the two hyphens
    std::string_view value = "";  ///< name of the flag's value in the help; empty if the flag takes no value
    bool repeats = false;
    std::string_view otherwise = "";  ///< the value, an integer, where no integer follows; empty: none
};

/// Joins the flags of several groups, in order.
std::vector<Flag> join(std::initializer_list<std::span<const Flag>> groups);

/// The flags and operands of one verb. An error in a flag throws an InputError that names the flag.
class Arguments {
public:
    /// Parses `words`; every verb also takes --json.
    ///
    /// Refuses unknown and abbreviated flags, flags given twice, missing values, and more than
    /// `most_operands` operands. `operand` is the word for an operand in messages.
    Arguments(std::string_view verb, const Words& words, std::vector<Flag> flags, std::size_t most_operands,
              std::string_view operand = "operator");

    [[nodiscard]] std::string_view verb() const { return verb_; }
    /// True if the verb declares the flag.
    [[nodiscard]] bool declares(std::string_view flag) const;
    [[nodiscard]] bool has(std::string_view flag) const;
    [[nodiscard]] std::optional<std::string> value(std::string_view flag) const;
    [[nodiscard]] std::vector<std::string> values(std::string_view flag) const;

    /// Returns the flag's value as an integer from `lowest` to `highest`, written as 4096, 2^20 or 1e6.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view flag, std::int64_t lowest,
                                                      std::int64_t highest) const;
    /// Returns the index of the flag's value in `known`.
    [[nodiscard]] std::optional<std::size_t> choice(std::string_view flag,
                                                    std::span<const std::string_view> known) const;

    [[nodiscard]] const Words& operands() const { return operands_; }
    [[nodiscard]] bool json() const { return has("json"); }

    /// If `flag` is given, throws an InputError with the message "--FLAG WHY".
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
