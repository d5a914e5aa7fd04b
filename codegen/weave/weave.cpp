#include "codegen/weave/weave.h"

#include <algorithm>
#include <set>

#include "codegen/weave/line_break.h"
#include "codegen/weave/line_map.h"
#include "dsl/error.h"

namespace segfold {
namespace {

constexpr std::string_view kDirectiveMark = "//%";

std::string_view trim_line(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Directive read_directive(std::string_view code, int line)
{
    const auto rest = trim_line(code.substr(kDirectiveMark.size()));
    const auto word = rest.substr(0, rest.find_first_of(" \t"));
    return {std::string(word), std::string(trim_line(rest.substr(word.size()))), line};
}

/// A text, and for each of its lines the line number in its file.
struct Taken {
    std::string text;
    std::vector<int> lines;

    void add(std::string_view line, int number)
    {
        text += line;
        text += '\n';
        lines.push_back(number);
    }
};

/// Removes blank lines that a dropped paragraph left next to another blank line or to a brace.
Taken tidy(const Taken& taken)
{
    Taken result;
    std::string_view rest = taken.text;
    bool blank_before = true;
    for (const int number : taken.lines) {
        const auto line = take_line(rest);
        const bool blank = trim_line(line).empty();
        if (!(blank && blank_before))
            result.add(line, number);
        blank_before = blank || trim_line(line).ends_with('{');
    }
    while (result.text.ends_with("\n\n")) {
        result.text.pop_back();
        result.lines.pop_back();
    }
    return result;
}

/// Weaves one file and the parts that it uses. Each part is woven once.
class Weaver {
public:
    Weaver(Facts facts, const ReadPart& read_part) : names_(std::move(facts)), read_part_(read_part) {}

    Taken weave(std::string_view file, std::string_view text, bool is_part)
    {
        std::vector<Branch> open;
        Taken out;
        for (int line_number = 1; !text.empty(); ++line_number) {
            const auto line = take_line(text);
            const auto code = trim_line(line);
            if (!code.starts_with(kDirectiveMark)) {
                if (live(open)) {
                    if (!last_number_.empty() && code.starts_with(')'))
                        throw SpecError(last_number_ +
                                        ": a number stands before the last parameter, not behind it");
                    last_number_.clear();
                    out.add(line, line_number);
                }
                continue;
            }
            auto directive = read_directive(code, line_number);
            const auto place = std::string(file) + ":" + std::to_string(line_number);
            if (resolve_branch(directive, place, open) || !live(open))
                continue;
            if (directive.word == "use")
                use(directive.argument, place);
            else if (directive.word == "number")
                add_number(directive.argument, line.substr(0, line.find(kDirectiveMark)), place, line_number,
                           out);
            else if (!is_part)
                directives_.push_back(std::move(directive));
            else if (directive.word == "let" || directive.word == "scratch" || directive.word == "launch")
                add_of_part(std::move(directive), file);
            else
                throw SpecError(place + ": a part has no use for '" + directive.word +
                                "'; it knows let, scratch, launch, use, number, if, elif, else and end");
        }
        if (!open.empty())
            throw SpecError(open.back().place + ": 'if' without 'end'");
        return tidy(out);
    }

    std::vector<std::string> take_parts() { return std::move(parts_); }
    std::vector<WovenLines> take_part_lines() { return std::move(part_lines_); }
    std::vector<std::string> take_numbers() { return std::move(numbers_); }
    std::vector<Directive> take_directives() { return std::move(directives_); }

private:
    struct Branch {
        bool taken;  ///< true if this paragraph is kept
        bool done;   ///< true if this or an earlier paragraph of the block is kept
        bool last;   ///< true if this is the `else` paragraph
        std::string place;
    };

    static bool live(const std::vector<Branch>& open)
    {
        return std::ranges::all_of(open, [](const Branch& branch) { return branch.taken; });
    }

    bool holds(const std::string& condition, const std::string& place) const
    {
        return Formula(place, condition).value(names_) != 0;
    }

    /// Handles the directives if, elif, else and end. Returns false for any other directive.
    bool resolve_branch(const Directive& directive, const std::string& place, std::vector<Branch>& open) const
    {
        const auto& word = directive.word;
        if (word == "if") {
            const bool taken = holds(directive.argument, place);
            open.push_back({taken, taken, false, place});
            return true;
        }
        if (word != "elif" && word != "else" && word != "end")
            return false;
        if (open.empty())
            throw SpecError(place + ": '" + word + "' without 'if'");
        if (word == "end") {
            open.pop_back();
            return true;
        }
        auto& branch = open.back();
        if (branch.last)
            throw SpecError(place + ": '" + word + "' after 'else'");
        branch.last = word == "else";
        branch.taken = !branch.done && (word == "else" || holds(directive.argument, place));
        branch.done = branch.done || branch.taken;
        return true;
    }

    void add_of_part(Directive directive, std::string_view file)
    {
        directive.file = file;
        directives_.push_back(std::move(directive));
    }

    /// Handles `//% number`: adds the parameter `int NAME,` if numbers are passed at launch.
    void add_number(const std::string& name, std::string_view indent, const std::string& place, int line,
                    Taken& out)
    {
        last_number_ = place;
        if (std::ranges::find(numbers_, name) == numbers_.end())
            numbers_.push_back(name);
        if (const auto* at_launch = names_.find("at_launch"); at_launch != nullptr && *at_launch != 0)
            out.add(std::string(indent) + "int " + name + ",", line);
    }

    void use(const std::string& path, const std::string& place)
    {
        if (used_.contains(path))
            return;
        if (!active_.insert(path).second)
            throw SpecError(place + ": " + path + " uses itself");
        const auto found = read(path, place);
        const auto& name = found.place.empty() ? path : found.place;
        auto part = weave(name, found.text, true);
        active_.erase(path);
        used_.insert(path);
        part.add("", 0);
        parts_.push_back(std::move(part.text));
        part_lines_.push_back({name, std::move(part.lines)});
    }

    [[nodiscard]] PartText read(const std::string& path, const std::string& place) const
    {
        try {
            return read_part_(path);
        } catch (const SpecError& error) {
            throw SpecError(place + ": " + error.what());
        }
    }

    FormulaNames names_;
    const ReadPart& read_part_;
    std::set<std::string, std::less<>> used_;
    std::set<std::string, std::less<>> active_;
    std::vector<std::string> parts_;
    std::vector<WovenLines> part_lines_;
    std::vector<std::string> numbers_;
    /// Place of the last `number` directive; empty once a line of code has followed.
    std::string last_number_;
    std::vector<Directive> directives_;
};

}  // namespace

TracedWoven weave_traced(std::string_view file, std::string_view text, const Facts& facts,
                         const ReadPart& read_part)
{
    Weaver weaver(facts, read_part);
    TracedWoven traced;
    auto body = weaver.weave(file, text, false);
    traced.woven.body = std::move(body.text);
    traced.body_lines = {std::string(file), std::move(body.lines)};
    traced.woven.numbers = weaver.take_numbers();
    traced.woven.directives = weaver.take_directives();
    traced.woven.parts = weaver.take_parts();
    traced.part_lines = weaver.take_part_lines();
    return traced;
}

Woven weave(std::string_view file, std::string_view text, const Facts& facts, const ReadPart& read_part)
{
    return weave_traced(file, text, facts, read_part).woven;
}

std::vector<Directive> directives_of(std::string_view text)
{
    std::vector<Directive> result;
    for (int line_number = 1; !text.empty(); ++line_number) {
        const auto code = trim_line(take_line(text));
        if (code.starts_with(kDirectiveMark))
            result.push_back(read_directive(code, line_number));
    }
    return result;
}

}  // namespace segfold
