#pragma once
// Values of a JSON document that somebody else may have written: what is missing or wrong is refused by name.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace segfold {

/// A JSON document, whose members keep their order.
using Json = nlohmann::ordered_json;

/// Where a JSON text, which parsing has refused with Json::out_of_range, holds a number that no float
/// reaches.
struct JsonOverflow {
    explicit JsonOverflow(std::string_view text);

    std::ptrdiff_t line = 0;
    std::string number;
};

/// The document of a text, in which no object may have two members of one name: damage makes one object of
/// two.
///
/// Throws InputError that begins with `place` for such an object, and what nlohmann::json throws for other
/// faults.
Json parse_json(const std::string& place, std::string_view text);

/// The same, where every fault is an InputError that begins with `place`: what is no JSON by its byte, a
/// number that no float reaches by its line.
Json read_json(const std::string& place, std::string_view text);

/// A value with its place in its document, such as "b.json: document.times[0].device". It refers to the
/// document, which has to outlive it. Every function but has() throws InputError that names the place, what
/// stands there and what would be right.
class JsonValue {
public:
    JsonValue(std::string place, const Json& value) : place_(std::move(place)), value_(&value) {}

    /// Throws InputError: "PLACE is VALUE; `right`".
    [[noreturn]] void refuse(const std::string& right) const;

    /// True if this is an object that has `key`.
    [[nodiscard]] bool has(const char* key) const;
    /// A member of an object.
    [[nodiscard]] JsonValue at(const char* key) const;
    /// A member of an object; nothing where it has none of that name.
    [[nodiscard]] std::optional<JsonValue> find(const char* key) const;
    /// All members of an object, by key.
    [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;
    /// The elements of a list.
    [[nodiscard]] std::vector<JsonValue> elements() const;

    [[nodiscard]] std::string text() const;
    /// The place of a text in `words`, of which there are two at least.
    [[nodiscard]] std::size_t choice(std::span<const std::string_view> words) const;
    [[nodiscard]] bool truth() const;
    /// An integer of 64 bits.
    [[nodiscard]] std::int64_t integer() const;
    /// An integer from 0 to `most`.
    [[nodiscard]] std::int64_t count(std::int64_t most = std::int64_t{1} << 53) const;
    /// An integer from 0 to the greatest int.
    [[nodiscard]] int small() const;
    /// Any number.
    [[nodiscard]] double number() const;

private:
    std::string place_;
    const Json* value_;
};

}  // namespace segfold
