#pragma once
// The grammar of operators.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/check/expand.h"
#include "dsl/message/complaints.h"
#include "dsl/text/expression_parser.h"
#include "dsl/text/lexer.h"
#include "dsl/text/token_cursor.h"
#include "dsl/text/uses.h"

namespace segfold {

/// A recursive-descent parser of operators, one function per production. After a fault, reading continues at
/// the next declaration, statement or part, so that several faults are reported.
class OperatorParser {
public:
    OperatorParser(const SourcePointer& source, Tokens read, std::optional<Type> generic,
                   Complaints& complaints)
        : heading_(std::move(read.heading)),
          cursor_(source, std::move(read.tokens)),
          expressions_(cursor_, generic),
          complaints_(complaints)
    {}
    /// operator ::= "operator" name "(" [parameter {"," parameter}] ")" ["->" results] "{" {part} "}"
    Operator whole_operator();
    /// The parts of the text that faults made unreadable.
    [[nodiscard]] Unread& unread() { return unread_; }
    [[nodiscard]] const Shorthands& shorthands() const { return shorthands_; }
    [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
    /// Returns the first part other than `use` and `def`; empty if there is none.
    [[nodiscard]] std::string first_part() const { return seen_.empty() ? std::string() : seen_.front(); }

private:
    /// Reads items separated by commas, up to the closing parenthesis.
    template <class Item>
    void declarations(const Item& item)
    {
        for (bool more = true; more;) {
            const auto start = cursor_.place();
            const bool read = complaints_.attempt([&] {
                item();
                more = cursor_.accept(",");
                if (!more)
                    cursor_.expect(")");
            });
            if (read)
                continue;
            skip_declaration(start);
            more = cursor_.accept(",");
            if (!more)
                cursor_.accept(")");
        }
    }

    /// Skips the rest of a faulty declaration that began at token `start`. Records its words as unread names.
    void skip_declaration(std::size_t start);
    /// Skips to the next part, or to the end of the operator.
    void skip_part(std::size_t start);
    /// Skips a statement that could not be read. Also skips the blocks of a statement in another language,
    /// such as `if (...) { ... } else { ... }`.
    void skip_statement();
    void stop_if_exhausted() const;
    [[nodiscard]] std::span<const Token> read_since(std::size_t start) const;
    /// Adds to `names` the names that a faulty statement declares. The statement began at token `start`.
    void note_names(std::size_t start, std::set<std::string>& names) const;
    [[nodiscard]] bool begins_part() const;
    /// parameter ::= name ":" ["table" | "scalar"] ["row"] type
    Parameter parameter();
    /// size ::= "[" number "]"
    ///
    /// Returns nothing if no size follows.
    std::optional<std::int64_t> array_size();
    /// results ::= ["each"] type | "(" result {"," result} ")"
    /// result ::= ["each"] name ":" type [size]
    void results(Operator& op);
    /// Reads the word `each`, which marks an output. `each` may also be an ordinary name.
    std::vector<ResultField>& results_or_outputs(Operator& op);
    /// part ::= state | lift | combine | append | finish | empty | map | scan | laws
    void part(Operator& op);
    [[noreturn]] void refuse_part(const Token& keyword) const;
    /// Throws if the text after a part's expression was probably meant to belong to the expression.
    void refuse_what_follows(const Token& keyword) const;
    /// Reads one of lift, finish, empty and map.
    void one_state_part(Operator& op, const Token& keyword);
    /// state ::= field | "{" field {";" field} [";"] "}"
    void state(Operator& op);
    /// field ::= name ":" type [size] ["=" (expression | "[" expression {"," expression} "]")]
    void state_field(Operator& op);
    /// use ::= "use" name ["(" expression {"," expression} ")"] ["as" name]
    void use();
    /// definition ::= "def" name "(" [name {"," name}] ")" "=" expression [";"]
    void definition();
    /// Throws if a definition uses a name that is not among its arguments.
    void check_arguments(const OwnFunction& made, const Expression& value) const;
    /// combine ::= "(" name "," name ")" block
    void combine(Operator& op, const Token& keyword);
    /// append ::= "(" name ")" block
    void append(Operator& op, const Token& keyword);
    /// scan ::= ["reverse"] "(" name "," name ")" block
    void scan(Operator& op, const Token& keyword);
    /// Requires that append's state has the same name as combine's earlier operand.
    void check_operand_of_append(const Operator& op);
    /// laws ::= ("commutative" | "idempotent") {"," ...}
    void laws(Operator& op);
    /// block ::= expression | "{" {"let" name "=" expression ";" | name "=" expression [";"]} "}"
    Block block(const Token& keyword);
    [[nodiscard]] std::string unclosed() const;
    /// Reads a statement and the `;` after it. If the statement has a fault, skips it and returns false.
    bool terminated_statement(Block& block, const std::string& part);
    /// loop ::= "for" name "in" expression ".." expression "{" {statement} "}"
    ///
    /// Reads the body once for each round. Returns false if the body has a fault, which is reported for one
    /// round only.
    bool loop(Block& block, const std::string& part);
    /// Reads a bound of a loop, or the index of an entry to be set.
    std::int64_t bound();
    /// Returns the name of a loop's local in this round. Each round has its own local.
    std::string local_of_round(const Block& block, const std::string& target);

    /// Names of a block's locals. With them, a long loop need not search all locals in each round.
    struct LetNames {
        std::size_t num_read = 0;  ///< number of the block's locals that are recorded here
        std::set<std::string, std::less<>> taken;
        std::map<std::string, std::int64_t, std::less<>> next_number;  ///< name -> lowest free number
    };
    LetNames& names_of(const Block& block);
    void statement(Block& result, const std::string& part);
    [[nodiscard]] bool is_field(const std::string& target) const;
    [[nodiscard]] bool is_name_of_block(const Block& block, const std::string& target,
                                        const std::string& part) const;
    [[nodiscard]] bool is_assigning_sign() const;
    [[noreturn]] void refuse_assigning_sign(const std::string& target, const std::string& part) const;
    [[nodiscard]] std::size_t entries_of(const std::string& array) const;
    /// Returns a field that `part` sets, as an example for a message.
    [[nodiscard]] std::string field_of(const std::string& part) const;
    std::string heading_;
    const Operator* op_ = nullptr;  ///< the operator as read so far
    TokenCursor cursor_;
    ExpressionParser expressions_;
    Complaints& complaints_;
    Unread unread_;
    Shorthands shorthands_;
    std::vector<Use> uses_;
    int loops_ = 0;   ///< number of loops that are being read
    int rounds_ = 0;  ///< number of rounds of all loops so far
    std::map<const Block*, LetNames> let_names_;
    std::vector<std::string> seen_;
    std::vector<std::string> scan_states_;  ///< names that scan gives its two states
    std::optional<Token> appended_;         ///< name that append gives its state
};

}  // namespace segfold
