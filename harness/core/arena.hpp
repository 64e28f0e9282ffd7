// Memory for many small things that are all let go together.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace synthesis {

// What is kept one after the other stands side by side, and nothing is paid for keeping books on it.
class Arena {
public:
    // A place for so many bytes.
    std::byte* take(size_t size);

    // A copy that stays where it is until `clear`.
    template <class Item>
    std::span<const Item> keep(std::span<const Item> items) {
        static_assert(std::is_trivially_copyable_v<Item> && alignof(Item) <= alignment);
        if (items.empty()) return {};
        auto* const place = reinterpret_cast<Item*>(take(items.size() * sizeof(Item)));
        std::uninitialized_copy(items.begin(), items.end(), place);
        return {place, items.size()};
    }

    // All that has been taken from the system.
    size_t bytes() const { return bytes_; }
    void clear() { *this = Arena(); }

private:
    static constexpr size_t alignment = 8;
    static constexpr size_t block = 1 << 18;

    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* free_ = nullptr;
    size_t left_ = 0;
    size_t bytes_ = 0;
};

}  // namespace synthesis
