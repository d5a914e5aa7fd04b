#include "runtime/data/formats/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "dsl/error.h"

namespace segfold {
namespace {

constexpr std::size_t kMostDimensions = 64;  // as in NumPy

/// Parses the Python literals that occur in headers.
class HeaderParser {
public:
    HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    /// dictionary = "{" [ key ":" value { "," key ":" value } [ "," ] ] "}"
    NpyDictionary parse()
    {
        expect('{');
        while (!accept('}')) {
            skip_blanks();
            const std::size_t key_place = place_;
            const std::string key = parse_string();
            mark_known(key, key_place);
            expect(':');
            parse_value(key);
            if (!accept(',') && peek() != '}')
                refuse("',' or '}'");
        }
        skip_blanks();
        if (place_ != text_.size())
            refuse("nothing more");
        if (!has_descr_ || !has_order_ || !has_shape_)
            throw InputError(
                fmt::format("{}: the header lacks '{}'; an .npy header holds descr, fortran_order and "
                            "shape",
                            where_,
                            !has_descr_   ? "descr"
                            : !has_order_ ? "fortran_order"
                                          : "shape"));
        return std::move(header_);
    }

private:
    [[noreturn]] void refuse(std::string_view wanted)
    {
        const std::string found =
            place_ < text_.size() ? fmt::format("byte 0x{:02x}", static_cast<unsigned char>(text_[place_]))
                                  : "its end";
        throw InputError(fmt::format(
            "{}: the header is malformed at byte {} of its text: {} where {} should be; it must be a "
            "dictionary of descr, fortran_order and shape",
            where_, place_, found, wanted));
    }

    static std::string shown_digits(std::string_view digits)
    {
        constexpr std::size_t kMost = 40;
        return std::string(digits.substr(0, kMost)) + (digits.size() > kMost ? "..." : "");
    }

    void skip_blanks()
    {
        while (place_ < text_.size() &&
               (text_[place_] == ' ' || text_[place_] == '\n' || text_[place_] == '\t'))
            ++place_;
    }

    char peek()
    {
        skip_blanks();
        return place_ < text_.size() ? text_[place_] : '\0';
    }

    bool accept(char c)
    {
        if (peek() != c || place_ == text_.size())
            return false;
        ++place_;
        return true;
    }

    void expect(char c)
    {
        if (!accept(c))
            refuse(fmt::format("'{}'", c));
    }

    bool accept_word(std::string_view word)
    {
        skip_blanks();
        if (!text_.substr(place_).starts_with(word))
            return false;
        place_ += word.size();
        return true;
    }

    std::string parse_string()
    {
        const char quote = peek();
        if (quote != '\'' && quote != '"')
            refuse("a quoted word");
        const std::size_t end = text_.find(quote, place_ + 1);
        if (end == std::string_view::npos) {
            place_ = text_.size();
            refuse("a closing quote");
        }
        const std::string word(text_.substr(place_ + 1, end - place_ - 1));
        place_ = end + 1;
        return word;
    }

    void mark_known(const std::string& key, std::size_t key_place)
    {
        bool& is_known = key == "descr" ? has_descr_ : key == "shape" ? has_shape_ : has_order_;
        if (is_known || (key != "descr" && key != "fortran_order" && key != "shape")) {
            place_ = key_place;
            refuse("each of descr, fortran_order and shape once");
        }
        is_known = true;
    }

    void parse_value(const std::string& key)
    {
        if (key == "descr")
            parse_descr();
        else if (key == "shape")
            parse_shape();
        else if (accept_word("True"))
            header_.is_fortran = true;
        else if (!accept_word("False"))
            refuse("True or False");
    }

    void parse_descr()
    {
        header_.is_structured = peek() == '[' || peek() == '(';
        if (!header_.is_structured) {
            header_.descr = parse_string();
            return;
        }
        // Only finds the end of the list; the fields of structured elements are not used.
        const std::size_t begin = place_;
        int depth = 0;
        do {
            const char c = peek();
            if (c == '\'' || c == '"') {
                parse_string();
                continue;
            }
            if (place_ == text_.size())
                refuse("the end of a list");
            depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
            ++place_;
        } while (depth > 0);
        header_.descr = text_.substr(begin, place_ - begin);
    }

    /// shape = "(" [ integer { "," integer } [ "," ] ] ")"
    void parse_shape()
    {
        expect('(');
        while (!accept(')')) {
            std::uint64_t extent = 0;
            skip_blanks();
            const char* begin = text_.data() + place_;
            const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
            if (error == std::errc::result_out_of_range)
                throw InputError(fmt::format("{}: the header's shape holds {}, which does not fit 64 bits",
                                             where_, shown_digits({begin, end})));
            if (error != std::errc() || header_.shape.size() == kMostDimensions)
                refuse("a non-negative integer or ')'");
            place_ += static_cast<std::size_t>(end - begin);
            accept('L');  // Python 2 wrote long integers with L
            header_.shape.push_back(extent);
            if (!accept(',') && peek() != ')')
                refuse("',' or ')'");
        }
    }

    std::string_view text_;
    const std::string& where_;
    std::size_t place_ = 0;
    NpyDictionary header_;
    bool has_descr_ = false;
    bool has_order_ = false;
    bool has_shape_ = false;
};

}  // namespace

NpyDictionary parse_npy_dictionary(std::string_view text, const std::string& where)
{
    return HeaderParser(text, where).parse();
}

}  // namespace segfold
