#pragma once
// Reads JSON documents from other authors. Errors name the place of a missing or wrong value.
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

/// A JSON document. Its members keep their order.
using Json = nlohmann::ordered_json;

/// Line and text of the first number that is too large for a 64-bit float. For texts whose parsing threw
/// Json::out_of_range.
struct JsonOverflow {
    explicit JsonOverflow(std::string_view text);

    std::ptrdiff_t line = 0;
    std::string number;
};

/// Parses a text. No object may have two members of the same name, because damage to a file can merge two
/// objects.
///
/// Throws InputError, whose message begins with `place`, for such an object. Throws the exceptions of
/// nlohmann::json for other faults.
Json parse_json(const std::string& place, std::string_view text);

/// Parses a text. Throws InputError for every fault. The message begins with `place` and names the byte of
/// invalid JSON, or the line of a number that is too large for a 64-bit float.
Json read_json(const std::string& place, std::string_view text);

/// A value and its place in its document, such as "b.json: document.times[0].device". The document must
/// outlive the value.
///
/// If the value is not of the wanted kind, functions throw InputError, which names the place, the value found
/// and the value needed. Only has() never throws.
class JsonValue {
public:
    JsonValue(std::string place, const Json& value) : place_(std::move(place)), value_(&value) {}

    /// Throws InputError with the message "PLACE is VALUE; RIGHT", where RIGHT is `right`.
    [[noreturn]] void refuse(const std::string& right) const;

    /// True if this is an object that has `key`.
    [[nodiscard]] bool has(const char* key) const;
    /// Returns a member of an object.
    [[nodiscard]] JsonValue at(const char* key) const;
    /// Returns a member of an object; nothing if the object has no such member.
    [[nodiscard]] std::optional<JsonValue> find(const char* key) const;
    /// Returns all members of an object with their keys.
    [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;
    /// Returns the elements of a list.
    [[nodiscard]] std::vector<JsonValue> elements() const;

    [[nodiscard]] std::string text() const;
    /// Returns the index of this text in `words`, which must hold at least two words.
    [[nodiscard]] std::size_t choice(std::span<const std::string_view> words) const;
    [[nodiscard]] bool truth() const;
    /// Returns an integer of 64 bits.
    [[nodiscard]] std::int64_t integer() const;
    /// Returns an integer from 0 to `most`.
    [[nodiscard]] std::int64_t count(std::int64_t most = std::int64_t{1} << 53) const;
    /// Returns an integer from 0 to the greatest int.
    [[nodiscard]] int small() const;
    /// Returns any number.
    [[nodiscard]] double number() const;

private:
    std::string place_;
    const Json* value_;
};

}  // namespace segfold
