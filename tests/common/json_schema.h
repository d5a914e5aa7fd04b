#pragma once
// Checks JSON documents by a JSON schema, with the part of draft 2020-12 that the program's schema uses.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace segfold::test {

/// Judges documents by one schema. Members that the schema does not describe are faults: readers must accept
/// them, but the schema must describe everything that the program writes.
class SchemaJudge {
public:
    using Json = nlohmann::ordered_json;

    /// Throws std::runtime_error if the schema has a keyword that this judge does not know.
    explicit SchemaJudge(Json schema) : schema_(std::move(schema)) { check_keywords(schema_, "#"); }

    /// Returns the faults of a document, one a line; empty if there are none. Uses the schema's definition
    /// with the document's name.
    [[nodiscard]] std::string faults(const Json& document) const
    {
        if (!document.is_object() || document.size() < 2 || document.begin().key() != "segfold" ||
            std::next(document.begin()).key() != "document")
            return "the document does not begin with 'segfold' and 'document'\n";
        const auto name = document["document"].get<std::string>();
        const Json reference = {{"$ref", "#/$defs/" + name}};
        if (std::ranges::find(schema_["oneOf"], reference) == schema_["oneOf"].end())
            return "the schema has no document '" + name + "'\n";
        std::vector<std::string> found;
        judge(document, reference, name, found);
        std::string text;
        for (const auto& fault : found)
            text += fault + "\n";
        return text;
    }

    /// Returns the faults of a document given as text.
    [[nodiscard]] std::string faults(const std::string& text) const { return faults(Json::parse(text)); }

private:
    static const std::set<std::string>& keywords()
    {
        static const std::set<std::string> all = {
            "$schema", "$defs", "$ref",     "title",      "description",
            "type",    "enum",  "const",    "properties", "additionalProperties",
            "items",   "oneOf", "required", "anyOf",      "minimum"};
        return all;
    }

    static void check_keywords(const Json& schema, const std::string& place)
    {
        for (const auto& [key, value] : schema.items()) {
            if (!keywords().contains(key))
                throw std::runtime_error(place + ": unknown keyword " + key);
            if (key == "$defs" || key == "properties")
                for (const auto& [name, part] : value.items())
                    check_keywords(part, place + "/" + key + "/" + name);
            else if (key == "oneOf" || key == "anyOf")
                for (const auto& part : value)
                    check_keywords(part, place + "/" + key);
            else if (key == "items" || key == "additionalProperties")
                check_keywords(value, place + "/" + key);
        }
    }

    static bool has_type(const Json& value, const std::string& type)
    {
        return type == "object"    ? value.is_object()
               : type == "array"   ? value.is_array()
               : type == "string"  ? value.is_string()
               : type == "boolean" ? value.is_boolean()
               : type == "null"    ? value.is_null()
               : type == "integer" ? value.is_number_integer()
                                   : type == "number" && value.is_number();
    }

    void judge(const Json& value, const Json& schema, const std::string& place,
               std::vector<std::string>& faults) const
    {
        const auto complain = [&](const std::string& what) {
            faults.push_back(place + " is " + value.dump().substr(0, 80) + ": " + what);
        };
        if (schema.contains("$ref"))
            judge(value, schema_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), place,
                  faults);
        if (schema.contains("type")) {
            const auto& types = schema["type"];
            const bool is_one = types.is_string() ? has_type(value, types)
                                                  : std::ranges::any_of(types, [&](const Json& type) {
                                                        return has_type(value, type.get<std::string>());
                                                    });
            if (!is_one)
                return complain("the type has to be " + types.dump());
        }
        if (schema.contains("const") && value != schema["const"])
            complain("it has to be " + schema["const"].dump());
        if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
            complain("it has to be one of " + schema["enum"].dump());
        if (schema.contains("minimum") && value.is_number() && value < schema["minimum"])
            complain("it has to be " + schema["minimum"].dump() + " at least");
        if (schema.contains("anyOf") && std::ranges::none_of(schema["anyOf"], [&](const Json& part) {
                std::vector<std::string> inner;
                judge(value, part, place, inner);
                return inner.empty();
            }))
            complain("it is none of " + schema["anyOf"].dump());
        if (value.is_array() && schema.contains("items"))
            for (std::size_t i = 0; i < value.size(); ++i)
                judge(value[i], schema["items"], place + "[" + std::to_string(i) + "]", faults);
        if (value.is_object())
            judge_members(value, schema, place, faults);
    }

    void judge_members(const Json& value, const Json& schema, const std::string& place,
                       std::vector<std::string>& faults) const
    {
        for (const auto& name : schema.value("required", Json::array()))
            if (!value.contains(name.get<std::string>()))
                faults.push_back(place + " has no '" + name.get<std::string>() + "'");
        if (!schema.contains("properties") && !schema.contains("additionalProperties"))
            return;  // another subschema describes the members
        for (const auto& [name, member] : value.items()) {
            const auto inner = place + "." + name;
            if (schema.contains("properties") && schema["properties"].contains(name))
                judge(member, schema["properties"][name], inner, faults);
            else if (schema.contains("additionalProperties"))
                judge(member, schema["additionalProperties"], inner, faults);
            else
                faults.push_back(inner + " is not in the schema");
        }
    }

    Json schema_;
};

}  // namespace segfold::test
