// Every message that advises something has a case in which the advice is followed, or a line that says why it
// has none.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::advice_test {
namespace {

namespace fs = std::filesystem;

constexpr auto kBlanks = " \t\n\r";

/// What a message tells its reader to do begins with one of these.
constexpr auto kAdvises = std::to_array<std::string_view>(
    {"add",     "ask",        "begin",        "bind", "build", "call again", "call the", "choose",  "compare",
     "convert", "declare",    "did you mean", "fold", "give",  "install",    "keep",     "leave",   "lend",
     "list",    "make",       "move",         "name", "nest",  "put",        "read",     "rely on", "remove",
     "repeat",  "return one", "run",          "save", "say",   "see --",     "set",      "sort",    "start",
     "take",    "try",        "unset",        "use",  "write"});

/// What shows how something is written holds one of these.
constexpr auto kShows = std::to_array<std::string_view>(
    {"'segfold ", " are written ", " is bound with ", " are set in braces: ", " stand inside ",
     " are called as ", " stands without ", " is the value of ", "e.g. ", "sets each of its fields once: "});

std::string read(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Text of a message in the sources: `{}` stands for what is filled in. `before` is the literal before it in
/// the same statement, which is the fault where this is what to do about it.
struct Literal {
    std::string text;
    std::string before;
};

/// The literals of a source, in order; those that `+` joins are one.
class Literals {
public:
    explicit Literals(std::string source) : text_(std::move(source)) {}

    std::vector<Literal> all()
    {
        for (; at_ < text_.size(); ++at_)
            if (!skip_other())
                add();
        return std::move(found_);
    }

private:
    /// Comments, characters, includes and all that is no literal.
    bool skip_other()
    {
        const std::string_view rest = std::string_view(text_).substr(at_);
        if (rest.starts_with("//") || rest.starts_with("#include"))
            at_ = std::min(text_.find('\n', at_), text_.size());
        else if (rest.starts_with("'\\"))
            at_ = text_.find('\'', at_ + 3);
        else if (rest.starts_with("'\"'"))
            at_ += 2;
        else if (rest.starts_with("R\"("))
            at_ = text_.find(")\"", at_) + 1;
        else if (rest[0] == '"')
            return false;
        else if (rest[0] == ';' || rest[0] == '{' || rest[0] == '}' || rest.starts_with(": "))
            before_.clear();
        return true;
    }

    /// The literal at at_, and those that are joined to it.
    void add()
    {
        std::string text;
        do
            text += one();
        while (joins(text));
        found_.push_back({text, before_});
        before_ = text;
    }

    std::string one()
    {
        std::string text;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\' && text_[++at_] == 'n')
                text += ' ';
            else
                text += text_[at_];
        }
        return text;
    }

    /// True, and at_ on the next quote, where what follows at_ is a part of the same text.
    bool joins(std::string& text)
    {
        auto next = text_.find_first_not_of(kBlanks, at_ + 1);
        if (next == text_.npos || (text_[next] != '"' && text_[next] != '+'))
            return false;
        const bool filled = text_[next] == '+';
        text += filled ? "{}" : "";
        for (int depth = 0; filled && (text_[next] != '"' || depth > 0); ++next) {
            depth += (text_[next] == '(') - (text_[next] == ')');
            if (depth < 0 || text_[next] == ';' || text_[next] == '?' || text_.compare(next, 2, ": ") == 0 ||
                (text_[next] == ',' && depth == 0))
                return false;
        }
        at_ = next;
        return true;
    }

    std::string text_;
    std::size_t at_ = 0;
    std::string before_;
    std::vector<Literal> found_;
};

/// The text with `{}` for each field of a format.
std::string with_bare_fields(const std::string& text)
{
    std::string bare;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto end = text[i] == '{' ? text.find('}', i) : text.npos;
        const bool is_field = end != text.npos && text.find(' ', i) > end;
        bare += is_field ? "{}" : std::string(1, text[i]);
        i = is_field ? end : i;
    }
    return bare;
}

bool begins_with_advice(std::string_view text)
{
    return std::ranges::any_of(kAdvises, [&](std::string_view word) {
        return text.starts_with(word) && text.size() > word.size() + 1 &&
               (word.ends_with('-') || (text[word.size()] == ' ' && text[word.size() + 1] != '='));
    });
}

/// The text behind blanks and a word that joins.
std::string_view bare_clause(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    for (const std::string_view word : {"or ", "and ", "else ", "then "})
        text.remove_prefix(text.starts_with(word) ? word.size() : 0);
    return text;
}

/// True of a clause that shows what to write, or names a command.
bool shows_what_to_write(std::string_view clause)
{
    const auto one = clause.substr(0, clause.find(';'));
    return std::ranges::any_of(kShows, [&](std::string_view words) { return one.find(words) != one.npos; });
}

/// True of advice that many messages give, such as "leave it out".
bool says_little(const std::string& advice) { return std::ranges::count(advice, ' ') < 3; }

/// The advice in a literal: from a word that advises, at the beginning or behind a mark, up to the next ';'.
/// What says little stands with what is before it.
std::vector<std::string> advice_in(const std::string& text)
{
    std::vector<std::string> advice;
    for (std::size_t at = 0; at < text.size();) {
        const auto clause = bare_clause(std::string_view(text).substr(at));
        const bool advises = begins_with_advice(clause) || shows_what_to_write(clause);
        if (advises) {
            const auto end = clause.data() - text.data() + std::min(clause.find(';'), clause.size());
            const auto one = std::string(clause.substr(0, clause.find(';')));
            advice.push_back(says_little(one) ? text.substr(0, end) : one);
            advice.back().erase(advice.back().find_last_not_of(' ') + 1);
        }
        const auto next = text.find_first_of(advises ? ";" : ",:;(", at);
        at = next == text.npos ? next : next + 1;
    }
    return advice;
}

/// True if the message holds the pieces between `{}`, one behind the other.
bool shows(const std::string& message, const std::string& advice)
{
    std::size_t at = 0;
    for (std::size_t begin = 0; begin <= advice.size();) {
        const auto end = std::min(advice.find("{}", begin), advice.size());
        at = message.find(advice.substr(begin, end - begin), at);
        if (at == message.npos)
            return false;
        at += end - begin;
        begin = end + 2;
    }
    return true;
}

/// All advice of the sources, and where it is given.
std::map<std::string, std::string> all_advice()
{
    std::map<std::string, std::string> advice;
    for (const char* folder : {"dsl", "codegen", "runtime"})
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(SEGFOLD_SOURCE_DIR) / folder)) {
            const auto file = fs::relative(entry.path(), SEGFOLD_SOURCE_DIR).string();
            if ((!file.ends_with(".cpp") && !file.ends_with(".h")) || file.starts_with("runtime/python/"))
                continue;
            for (const auto& literal : Literals(read(entry.path())).all())
                for (const auto& one : advice_in(with_bare_fields(literal.text))) {
                    const auto before = with_bare_fields(literal.before);
                    advice.try_emplace(says_little(one) && !before.empty() ? before + "{}" + one : one, file);
                }
        }
    return advice;
}

/// The messages of a transcript, or of an operator that is refused, whose advice is followed there.
void add_followed(const std::string& text, std::string_view mark, std::set<std::string>& messages)
{
    std::istringstream lines(text);
    std::string message;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("$ "))
            message.clear();
        if (line.starts_with(mark))
            messages.insert(message);
        else
            message += line + ' ';
    }
}

/// A call with all its arguments.
std::string call_at(const std::string& text, std::size_t begin)
{
    int depth = 0;
    bool quoted = false;
    for (auto at = begin; at < text.size(); ++at) {
        quoted ^= text[at] == '"' && text[at - 1] != '\\';
        depth += quoted ? 0 : (text[at] == '(') - (text[at] == ')');
        if (!quoted && text[at] == ')' && depth == 0)
            return text.substr(begin, at + 1 - begin);
    }
    return text.substr(begin);
}

/// What tests show of messages whose advice they follow.
std::set<std::string> followed_messages()
{
    std::set<std::string> messages;
    for (const auto& entry : fs::recursive_directory_iterator(SEGFOLD_SOURCE_DIR "/tests")) {
        const auto text = entry.is_regular_file() ? read(entry.path()) : "";
        if (entry.path().extension() == ".seg")
            add_followed(text, "#> ", messages);
        else if (entry.path().filename() == "bad_input.txt")
            add_followed(text, "> ", messages);
        for (auto at = text.find("follows("); at != text.npos; at = text.find("follows(", at + 1))
            for (const auto& literal : Literals(call_at(text, at)).all())
                messages.insert(literal.text);
    }
    return messages;
}

/// Advice that no test here can follow; a line with '=' says why, for those below it.
std::set<std::string> excused_advice()
{
    std::set<std::string> excused;
    std::istringstream lines(read(SEGFOLD_SOURCE_DIR "/tests/project/advice_without_case.txt"));
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line[0] != '=')
            excused.insert(line);
    return excused;
}

TEST(Advice, HasACaseOrAReason)
{
    const auto advice = all_advice();
    const auto messages = followed_messages();
    const auto excused = excused_advice();
    ASSERT_GT(advice.size(), 200u);
    for (const auto& [one, file] : advice) {
        const auto shown = [&](const std::string& message) { return shows(message, one); };
        const bool is_followed = std::ranges::any_of(messages, shown);
        EXPECT_TRUE(is_followed || excused.contains(one))
            << file << ": '" << one
            << "' is advice that no case follows: add one to tests/cli/bad_input.txt or "
            << "tests/errors, or a reason to tests/project/advice_without_case.txt";
        EXPECT_FALSE(is_followed && excused.contains(one))
            << one << "' has a case, and a reason why it has none";
    }
    for (const auto& one : excused)
        EXPECT_TRUE(advice.contains(one)) << "'" << one << "' is advice of no message";
}

}  // namespace
}  // namespace segfold::advice_test
