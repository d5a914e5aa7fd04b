#include "runtime/simt/ptx.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "codegen/weave/comment.h"

namespace segfold::simt {
namespace {

/// A PTX instruction and the beginning of the call that replaces it. The operands keep their order.
struct Twin {
    std::string_view instruction;
    std::string_view call;
    bool assigns = false;  ///< true if the call returns the first operand; such an `asm` need not be volatile
};

constexpr std::array kTwins = {
    Twin{"cp.async.cg.shared.global [%0], [%1], 16;", "__segfold_copy_async("},
    Twin{"cp.async.ca.shared.global [%0], [%1], 4;", "__segfold_copy_word_async("},
    Twin{"cp.async.ca.shared.global [%0], [%1], 8;", "__segfold_copy_double_async("},
    Twin{"cp.async.commit_group;", "__segfold_commit_copies("},
    Twin{"cp.async.wait_group 1;", "__segfold_wait_for_copies(1"},
    Twin{"cp.async.wait_group 0;", "__segfold_wait_for_copies(0"},
    Twin{"cp.async.wait_all;", "__segfold_wait_for_copies(0"},
    Twin{"barrier.cluster.arrive.release; barrier.cluster.wait.acquire;", "__segfold_wait_for_cluster("},
    Twin{"mapa.u64 %0, %1, %2;", "__segfold_in_block(", true},
    Twin{"cvt.f32.f16 %0, %1;", "__segfold_f16_to_f32(", true},
    Twin{"cvt.rn.f16.f32 %0, %1;", "__segfold_f32_to_f16(", true},
    Twin{"cvt.rn.bf16.f32 %0, %1;", "__segfold_f32_to_bf16(", true},
    Twin{"rcp.approx.ftz.f32 %0, %1;", "__segfold_reciprocal(", true},
    Twin{"ex2.approx.ftz.f32 %0, %1;", "__segfold_power_of_two(", true},
    Twin{"mul.wide.s32 %0, %1, %2;", "__segfold_wide_product(", true},
};

/// Returns the index just past the `)` that matches the `(` before index `place`.
std::size_t behind_parenthesis(std::string_view text, std::size_t place)
{
    bool quoted = false;
    for (int depth = 1; place < text.size(); ++place) {
        if (text[place] == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        if (text[place] == '(')
            ++depth;
        if (text[place] == ')' && --depth == 0)
            return place + 1;
    }
    return std::string_view::npos;
}

/// Returns the C++ call that replaces `asm(inside)`; nothing if the shim has no call for the instruction.
/// `inside` is the instruction's template, then operands such as `"r"(x)`.
std::optional<std::string> call_for(std::string_view inside, bool is_volatile)
{
    const auto open = inside.find('"');
    const auto close = inside.find('"', open + 1);
    if (close == std::string_view::npos)
        return std::nullopt;
    const auto instruction = inside.substr(open + 1, close - open - 1);
    const auto twin = std::ranges::find(kTwins, instruction, &Twin::instruction);
    if (twin == kTwins.end() || (!is_volatile && !twin->assigns))
        return std::nullopt;
    std::string target;
    std::string call(twin->call);
    for (auto place = close + 1; (place = inside.find("\"(", place)) != std::string_view::npos;) {
        const auto end = behind_parenthesis(inside, place + 2);
        if (end == std::string_view::npos)
            return std::nullopt;
        const auto operand = inside.substr(place + 2, end - place - 3);
        place = end;
        if (twin->assigns && target.empty()) {
            target = std::string(operand) + " = ";
            continue;
        }
        call += call.back() == '(' ? "" : ", ";
        call += operand;
    }
    return target + call + ")";
}

}  // namespace

std::string replace_ptx(std::string source)
{
    constexpr std::string_view kVolatile = "volatile";
    // Search without comments, because a comment may contain "asm" and must not change.
    std::string code = without_comments(source);
    for (std::size_t place = 0; (place = code.find("asm", place)) != std::string::npos;) {
        auto open = code.find_first_not_of(' ', place + 3);
        const bool is_volatile =
            open != std::string::npos && code.compare(open, kVolatile.size(), kVolatile) == 0;
        if (is_volatile)
            open = code.find_first_not_of(' ', open + kVolatile.size());
        if (open == std::string::npos || code[open] != '(') {
            place += 3;
            continue;
        }
        const auto inside = open + 1;
        const auto end = behind_parenthesis(code, inside);
        if (end == std::string::npos)
            break;
        const auto text = code.substr(inside, end - 1 - inside);
        if (auto call = call_for(text, is_volatile)) {
            *call += std::string(static_cast<std::size_t>(std::ranges::count(text, '\n')), '\n');
            source.replace(place, end - place, *call);
            code.replace(place, end - place, *call);
            place += call->size();
        } else {
            place = end;
        }
    }
    return source;
}

}  // namespace segfold::simt
