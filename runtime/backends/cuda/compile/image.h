#pragma once
// The bytes of a compiled program.
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace segfold::cuda {

/// Immutable bytes. All copies of the object share them.
class Image {
public:
    Image() : Image(std::vector<char>()) {}
    Image(std::vector<char> bytes) : bytes_(std::make_shared<const std::vector<char>>(std::move(bytes))) {}
    Image(std::initializer_list<char> bytes) : Image(std::vector<char>(bytes)) {}

    [[nodiscard]] const char* data() const { return bytes_->data(); }
    [[nodiscard]] std::size_t size() const { return bytes_->size(); }
    [[nodiscard]] const char* begin() const { return data(); }
    [[nodiscard]] const char* end() const { return data() + size(); }

    /// True if the bytes are equal.
    bool operator==(const Image& other) const { return *bytes_ == *other.bytes_; }

private:
    std::shared_ptr<const std::vector<char>> bytes_;  ///< null only after a move
};

}  // namespace segfold::cuda
