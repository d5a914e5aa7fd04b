// Values of JSON documents: what is read, and what is said of values that are missing or wrong.
#include "runtime/support/json_value.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "tests/common/message_of.h"

namespace segfold::json_value_test {
namespace {

constexpr std::array<std::string_view, 3> kWords = {"one", "two", "three"};

/// What reading the member `v` of a document says.
template <class Read>
std::string failure_of(const std::string& text, Read read)
{
    const auto document = read_json("d", text);
    return test::message_of<InputError>([&] { return read(JsonValue("d", document).at("v")); });
}

TEST(JsonValue, ReadsWhatIsThere)
{
    const auto document = read_json(
        "d", R"({"text": "a", "truth": true, "below": -3, "count": 9007199254740992, "word": "two"})");
    const JsonValue root("d", document);
    EXPECT_EQ(root.at("text").text(), "a");
    EXPECT_TRUE(root.at("truth").truth());
    EXPECT_EQ(root.at("below").integer(), -3);
    EXPECT_EQ(root.at("count").count(), std::int64_t{1} << 53);
    EXPECT_EQ(root.at("word").choice(kWords), 1U);
    EXPECT_FALSE(root.find("none"));
    ASSERT_TRUE(root.find("below"));
    EXPECT_EQ(root.find("below")->number(), -3);
}

TEST(JsonValue, FaultsNameThePlaceTheValueAndWhatIsRight)
{
    const auto choice = [](const JsonValue& value) { return value.choice(kWords); };
    EXPECT_EQ(failure_of(R"({"v": "four"})", choice), R"(d.v is "four"; one, two or three is needed)");
    EXPECT_EQ(failure_of(R"({"v": 2})", choice), "d.v is 2; one, two or three is needed");
    const auto integer = [](const JsonValue& value) { return value.integer(); };
    EXPECT_EQ(failure_of(R"({"v": 1.5})", integer), "d.v is 1.5; an integer of 64 bits is needed");
    EXPECT_EQ(failure_of(R"({"v": 9223372036854775808})", integer),
              "d.v is 9223372036854775808; an integer of 64 bits is needed");
    EXPECT_EQ(failure_of(R"({"v": [1]})", [](const JsonValue& value) { return value.find("w").has_value(); }),
              "d.v is [1]; an object is needed");
    EXPECT_EQ(failure_of(R"({"w": 1})", integer), "d has no 'v'");
}

TEST(JsonText, FaultsNameTheByteOrTheLine)
{
    const auto of = [](const std::string& text) {
        return test::message_of<InputError>([&] { return read_json("d.json", text); });
    };
    EXPECT_EQ(of("{"), "d.json: no JSON at byte 2");
    EXPECT_EQ(of("{\"a\":\n1e999}"), "d.json:2: the number 1e999 is beyond what a 64-bit float holds");
    EXPECT_EQ(of(R"({"a": 1, "a": 2})"), "d.json: one object has two members 'a'");
    EXPECT_EQ(of("{}"), "nothing was thrown");
}

}  // namespace
}  // namespace segfold::json_value_test
