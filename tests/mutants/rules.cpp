#include "tests/mutants/rules.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

namespace segfold::test {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The place of the bracket that closes the one at `open`.
std::size_t closing(const std::string& code, std::size_t open)
{
    int depth = 0;
    for (auto i = open; i < code.size(); ++i) {
        if (code[i] == '(' || code[i] == '[' || code[i] == '{')
            ++depth;
        if ((code[i] == ')' || code[i] == ']' || code[i] == '}') && --depth == 0)
            return i;
    }
    return code.size();
}

/// The text with comments, directives, preprocessor lines and literals blank, every place where it was.
std::string code_of(const std::string& text)
{
    std::string code = text;
    const auto blank = [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            if (code[i] != '\n')
                code[i] = ' ';
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto end_of_line = std::min(text.find('\n', at), text.size());
        if (text.compare(at, 2, "//") == 0 || text[at] == '#') {
            blank(at, end_of_line);
            at = end_of_line;
        } else if (text[at] == '"') {
            const auto end = text.find('"', at + 1);
            blank(at, end + 1);
            at = end;
        }
    }
    // What bounds registers or is asserted changes no result.
    for (const std::string_view word : {"__launch_bounds__(", "static_assert("})
        for (std::size_t at = 0; (at = code.find(word, at)) != std::string::npos; ++at)
            blank(at, closing(code, at + word.size() - 1) + 1);
    // reinterpret_cast<const T*>: its brackets compare nothing.
    for (std::size_t at = 0; (at = code.find("_cast<", at)) != std::string::npos; ++at)
        blank(at + 5, code.find('>', at) + 1);
    return code;
}

std::string squeezed(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        if (!is_space(c))
            result += c;
        else if (!result.empty() && result.back() != ' ')
            result += ' ';
    }
    while (!result.empty() && result.back() == ' ')
        result.pop_back();
    return result;
}

struct Range {
    std::size_t begin = 0, end = 0;
};

/// What stands between the commas of a call whose bracket opens at `open`.
std::vector<Range> arguments_of(const std::string& code, std::size_t open)
{
    std::vector<Range> arguments;
    const auto end = closing(code, open);
    auto begin = open + 1;
    for (auto i = open + 1; i <= end && i < code.size(); ++i) {
        if (code[i] == '(' || code[i] == '[' || code[i] == '{')
            i = closing(code, i);
        else if (code[i] == ',' || i == end) {
            auto from = begin, to = i;
            while (from < to && is_space(code[from]))
                ++from;
            while (to > from && is_space(code[to - 1]))
                --to;
            arguments.push_back({from, to});
            begin = i + 1;
        }
    }
    return arguments;
}

class Maker {
public:
    Maker(std::string file, const std::string& text)
        : file_(std::move(file)), text_(text), code_(code_of(text))
    {}

    std::vector<Mutant> make()
    {
        statements();
        calls();
        conditions();
        operators();
        constants();
        std::ranges::stable_sort(mutants_, {}, &Mutant::offset);
        std::map<std::string, int> counts;
        for (auto& mutant : mutants_)
            mutant.number = ++counts[mutant.rule + "\n" + mutant.before + "\n" + mutant.after];
        return std::move(mutants_);
    }

private:
    void add(const std::string& rule, Range range, const std::string& replacement)
    {
        const auto line_begin = code_.rfind('\n', range.begin) + 1;
        const auto line_end = std::min(code_.find('\n', std::max(range.begin, range.end - 1)), code_.size());
        Mutant mutant;
        mutant.file = file_;
        mutant.line = 1 + static_cast<int>(std::count(
                              code_.begin(), code_.begin() + static_cast<std::ptrdiff_t>(range.begin), '\n'));
        mutant.rule = rule;
        const auto shown = [&](std::size_t begin, std::size_t end) {
            std::string shown_text;  // literals too, but no comments
            for (auto i = begin; i < end; ++i) {
                const bool in_comment = [&] {
                    const auto comment = text_.rfind("//", i);
                    return comment != std::string::npos && text_.find('\n', comment) > i;
                }();
                shown_text += in_comment ? ' ' : text_[i];
            }
            return shown_text;
        };
        mutant.before = squeezed(shown(line_begin, line_end));
        mutant.after = squeezed(shown(line_begin, range.begin) + replacement + shown(range.end, line_end));
        mutant.offset = range.begin;
        mutant.length = range.end - range.begin;
        mutant.replacement = replacement;
        mutants_.push_back(std::move(mutant));
    }

    [[nodiscard]] std::string at(Range range) const
    {
        return text_.substr(range.begin, range.end - range.begin);
    }

    /// Statements that assign or call; barriers, fences and waits under a rule of their own.
    void statements()
    {
        std::size_t begin = 0;
        for (std::size_t i = 0; i < code_.size(); ++i) {
            const char c = code_[i];
            if (c == '(' || c == '[' || (c == '{' && opens_list(i))) {
                i = closing(code_, i);
            } else if (c == '{' || c == '}') {
                begin = i + 1;
            } else if (c == ';') {
                statement({begin, i});
                begin = i + 1;
            }
        }
    }

    /// True for the bracket of {a, b}, false for that of a block.
    [[nodiscard]] bool opens_list(std::size_t at) const
    {
        auto before = at;
        while (before > 0 && is_space(code_[before - 1]))
            --before;
        if (before == 0)
            return false;
        const char c = code_[before - 1];
        return c == '=' || c == ',' || c == '(' || c == '{' ||
               (before >= 6 && code_.compare(before - 6, 6, "return") == 0);
    }

    void statement(Range range)
    {
        static const std::regex kControl(R"(^(\s+|else\b|do\b|(if|for|while)\s*\())");
        static const std::regex kDeclaration(
            R"(^(const|constexpr|static|volatile|unsigned|extern|struct|return|break|continue|using|template|typedef|__\w+__)\b)"
            R"(|^[A-Za-z_]\w*(\s*[*&]+\s*|\s+)(const\s+)?\(?&?[A-Za-z_]\w*\s*([=\[({,)]|$))");
        static const std::regex kBarrier(R"(^(__sync\w+|__threadfence\w*|wait_for_\w+|asm volatile)\b)");
        std::smatch match;
        for (;;) {
            const auto rest = code_.substr(range.begin, range.end - range.begin);
            if (!std::regex_search(rest, match, kControl))
                break;
            range.begin += static_cast<std::size_t>(match.length());
            if (match.str().back() == '(')
                range.begin = closing(code_, range.begin - 1) + 1;
            if (range.begin >= range.end)
                return;
        }
        const auto text = code_.substr(range.begin, range.end - range.begin);
        if (text.empty())
            return;
        if (std::regex_search(text, match, kBarrier)) {
            add("barrier", range, "");
            if (text.starts_with("__syncthreads()") || text.starts_with("wait_for_cluster"))
                add("weaker", range, text.starts_with("wait") ? "__syncthreads()" : "__syncwarp()");
            if (text.starts_with("__threadfence()"))
                add("weaker", range, "__threadfence_block()");
        } else if (!std::regex_search(text, match, kDeclaration)) {
            add("statement", range, "");
        }
    }

    /// Calls of `name`, not its definition or declaration: the places of their opening brackets.
    [[nodiscard]] std::vector<Range> calls_of(const std::regex& name) const
    {
        std::vector<Range> calls;
        for (std::sregex_iterator i(code_.begin(), code_.end(), name), end; i != end; ++i) {
            const auto begin = static_cast<std::size_t>(i->position());
            const auto open = begin + static_cast<std::size_t>(i->length()) - 1;
            auto before = begin;
            while (before > 0 && is_space(code_[before - 1]))
                --before;
            const bool is_declared = before > 0 && before < begin && is_word(code_[before - 1]) &&
                                     !(before >= 6 && code_.compare(before - 6, 6, "return") == 0);
            if (!is_declared)
                calls.push_back({begin, open});
        }
        return calls;
    }

    /// True for `kept = range;`.
    [[nodiscard]] bool is_assigned(Range range, const std::string& kept) const
    {
        const auto assigned = kept + " = ";
        if (code_[range.end] != ';' || range.begin < assigned.size())
            return false;
        const auto begin = range.begin - assigned.size();
        return code_.compare(begin, assigned.size(), assigned) == 0 &&
               (begin == 0 || is_space(code_[begin - 1]));
    }

    void calls()
    {
        static const std::regex kJoin(R"(\b(combine|join|join_shares)\()");
        for (const auto& call : calls_of(kJoin)) {
            const auto arguments = arguments_of(code_, call.end);
            const bool is_share = at({call.begin, call.end}) == "join_shares";
            if (arguments.size() < (is_share ? 4 : 2))
                continue;
            const auto& earlier = arguments[arguments.size() - 2];
            const auto& later = arguments.back();
            const auto between = text_.substr(earlier.end, later.begin - earlier.end);
            add("swap", {earlier.begin, later.end}, at(later) + between + at(earlier));
            const auto name = at({call.begin, call.end});
            const std::string type = name == "combine" ? "State" : name == "join" ? "Run" : "Share";
            const Range whole{call.begin, closing(code_, call.end) + 1};
            for (const auto& kept : {earlier, later})
                if (!is_assigned(whole, at(kept)))  // else the whole statement is lost, which is a rule
                    add("lost", whole, type + "(" + at(kept) + ")");
        }
        static const std::regex kShuffle(
            R"(\b(shuffle_up|shuffle_down|shuffle|__shfl(_up|_down|_xor|)_sync)\()");
        for (const auto& call : calls_of(kShuffle)) {
            const auto arguments = arguments_of(code_, call.end);
            const auto name = at({call.begin, call.end});
            const bool is_lane = name == "shuffle" || name == "__shfl_sync";
            add("shuffle", arguments.back(), "(" + at(arguments.back()) + (is_lane ? ") ^ 1" : ") * 2"));
        }
        static const std::regex kVote(R"(\b__(any|all|ballot)_sync\()");
        for (const auto& call : calls_of(kVote)) {
            const Range asked = arguments_of(code_, call.end).back();
            const auto name = at({call.begin, call.end});
            if (name == "__ballot_sync") {
                add("vote", asked, "true");
                add("vote", asked, "false");
            } else {
                add("vote", {call.begin, call.end}, name == "__any_sync" ? "__all_sync" : "__any_sync");
                add("vote", {call.begin, closing(code_, call.end) + 1}, "(" + at(asked) + ")");
            }
        }
        static const std::regex kBound(R"(\b(min|max)\()");
        for (const auto& call : calls_of(kBound))
            add("bound", {call.begin, call.end}, at({call.begin, call.end}) == "min" ? "max" : "min");
    }

    void conditions()
    {
        static const std::regex kIf(R"(\b(if|while)\s*\()");
        for (const auto& call : calls_of(kIf)) {
            const Range condition{call.end + 1, closing(code_, call.end)};
            if (at({call.begin, call.begin + 2}) == "if")
                add("forced", condition, "true");
            add("forced", condition, "false");
        }
    }

    void operators()
    {
        const auto two = [&](std::size_t i) { return code_.substr(i, 2); };
        for (std::size_t i = 1; i + 2 < code_.size(); ++i) {
            const char c = code_[i];
            const auto pair = two(i);
            if (pair == "<<" || pair == ">>" || pair == "->") {
                i += code_[i + 2] == '=' ? 2 : 1;
            } else if (pair == "<=" || pair == ">=") {
                add("relation", {i, i + 2}, std::string(1, c));
                add("border", {i, i + 2}, pair == "<=" ? "<= 1 +" : ">= -1 +");
                ++i;
            } else if (pair == "==" || pair == "!=") {
                add("relation", {i, i + 2}, pair == "==" ? "!=" : "==");
                ++i;
            } else if (pair == "&&" || pair == "||") {
                if (code_[i - 1] == ' ')
                    add("logic", {i, i + 2}, pair == "&&" ? "||" : "&&");
                ++i;
            } else if (c == '<' || c == '>') {
                add("relation", {i, i + 1}, std::string(1, c) + "=");
                add("border", {i, i + 1}, c == '<' ? "< -1 +" : "> 1 +");
            } else if (c == '!' && (is_word(code_[i + 1]) || code_[i + 1] == '(')) {
                add("logic", {i, i + 1}, "");
            }
        }
    }

    void constants()
    {
        static const std::regex kOne(R"( [+-] 1(u|ll)?(?![\w.]))");
        for (std::sregex_iterator i(code_.begin(), code_.end(), kOne), end; i != end; ++i) {
            const auto begin = static_cast<std::size_t>(i->position());
            add("offset", {begin, begin + static_cast<std::size_t>(i->length())}, "");
        }
        static const std::regex kNumber(R"((\d\w*))");
        for (std::sregex_iterator i(code_.begin(), code_.end(), kNumber), end; i != end; ++i) {
            const auto begin = static_cast<std::size_t>(i->position());
            const auto text = i->str();
            if (begin > 2 && (is_word(code_[begin - 1]) || code_[begin - 1] == '.'))
                continue;
            const bool is_offset =
                begin > 2 && text[0] == '1' && (text.size() == 1 || !is_digit(text[1])) &&
                (code_.compare(begin - 2, 2, "+ ") == 0 || code_.compare(begin - 2, 2, "- ") == 0);
            if (is_offset)
                continue;
            const bool is_hexadecimal = text.starts_with("0x");
            std::size_t digits = 0;
            const auto value = std::stoull(text, &digits, is_hexadecimal ? 16 : 10);
            const auto ending = text.substr(digits);
            add(is_hexadecimal ? "mask" : "constant", {begin, begin + text.size()},
                std::to_string(is_hexadecimal ? value >> 1 : value + 1) + ending);
        }
        static const std::regex kMask(R"(\bkFullMask\b)");
        for (std::sregex_iterator i(code_.begin(), code_.end(), kMask), end; i != end; ++i) {
            const auto begin = static_cast<std::size_t>(i->position());
            add("mask", {begin, begin + 9}, "0x7fffffffu");
        }
    }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    std::string file_;
    const std::string& text_;
    std::string code_;
    std::vector<Mutant> mutants_;
};

}  // namespace

std::string print(const Mutant& mutant)
{
    return mutant.file + ":" + std::to_string(mutant.line) + " " + mutant.rule + ": " + mutant.before +
           "  =>  " + mutant.after;
}

std::string identity_of(const Mutant& mutant)
{
    return mutant.file + "\t" + mutant.rule + "\t" + std::to_string(mutant.number) + "\t" + mutant.before +
           "\t" + mutant.after;
}

std::vector<Mutant> mutants_of(const std::string& file, const std::string& text)
{
    return Maker(file, text).make();
}

std::string mutated(std::string text, const Mutant& mutant)
{
    return text.replace(mutant.offset, mutant.length, mutant.replacement);
}

}  // namespace segfold::test
