#include "runtime/support/files/sha256.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace segfold::cache {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kRounds = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, kRounds> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using Hash = std::array<std::uint32_t, 8>;

std::uint32_t big_endian(const char* bytes)
{
    std::array<unsigned char, 4> b;
    std::memcpy(b.data(), bytes, b.size());
    return static_cast<std::uint32_t>(b[0]) << 24 | static_cast<std::uint32_t>(b[1]) << 16 |
           static_cast<std::uint32_t>(b[2]) << 8 | b[3];
}

// Adds a block of 64 bytes to the hash. Implements the rounds of FIPS 180-4, section 6.2.2.
void add_block(Hash& hash, const char* block)
{
    std::array<std::uint32_t, kRounds> w;
    for (std::size_t t = 0; t < 16; ++t)
        w[t] = big_endian(block + 4 * t);
    for (std::size_t t = 16; t < kRounds; ++t) {
        const auto s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const auto s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (std::size_t t = 0; t < kRounds; ++t) {
        const auto sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const auto sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const auto t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRoundConstants[t] + w[t];
        const auto t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const Hash turned = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < hash.size(); ++i)
        hash[i] += turned[i];
}

}  // namespace

Digest sha256(std::string_view bytes)
{
    Hash hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
    for (; bytes.size() >= kBlockBytes; bytes.remove_prefix(kBlockBytes))
        add_block(hash, bytes.data());
    // The padding consists of a one bit, zeros and the length in bits. It fills up one or two blocks.
    std::string rest(bytes);
    rest.push_back('\x80');
    rest.resize((rest.size() + 8 + kBlockBytes - 1) / kBlockBytes * kBlockBytes - 8, '\0');
    for (int shift = 56; shift >= 0; shift -= 8)
        rest.push_back(static_cast<char>(bits >> shift & 0xff));
    for (std::size_t at = 0; at < rest.size(); at += kBlockBytes)
        add_block(hash, rest.data() + at);
    Digest digest;
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>(hash[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
    return digest;
}

std::string sha256_hex(std::string_view bytes)
{
    std::string text;
    for (const std::uint8_t byte : sha256(bytes))
        text += fmt::format("{:02x}", byte);
    return text;
}

}  // namespace segfold::cache
