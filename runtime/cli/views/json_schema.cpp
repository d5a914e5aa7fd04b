#include "runtime/cli/views/json_schema.h"

#include <nlohmann/json.hpp>
#include <span>

#include "dsl/embedded_file.h"

namespace segfold {

std::span<const EmbeddedFile> cli_schema_files();

namespace cli {
namespace {

/// True if a definition of the schema describes a whole document. It then has the property "document".
bool is_document(const Json& definition)
{
    return definition.contains("properties") && definition["properties"].contains("document");
}

}  // namespace

Json json_schema()
{
    Json documents = Json::array();
    Json definitions = Json::object();
    for (const auto& file : cli_schema_files()) {
        const auto part = Json::parse(file.text);
        for (const auto& [name, definition] : part.items()) {
            if (is_document(definition))
                documents.push_back({{"$ref", "#/$defs/" + name}});
            definitions[name] = definition;
        }
    }
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"title", "What segfold " SEGFOLD_VERSION " writes with --json"},
            {"oneOf", std::move(documents)},
            {"$defs", std::move(definitions)}};
}

}  // namespace cli
}  // namespace segfold
