#include "shared_places.hpp"

#include <cstring>
#include <new>

#include "packed.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace synthesis {

namespace {

constexpr uint32_t slots = 1 << 17;
constexpr uint32_t tries = 8;      // slots that are looked at for one sentence
constexpr uint32_t room = 12 << 20;  // bytes for what is told; memory that is not written to is not taken
constexpr uint32_t unit = 8;

}  // namespace

// What was told of one sentence; its text stands behind it, and then the places.
struct SharedPlaces::Told {
    uint64_t hash;
    uint32_t size;  // of the text
    uint16_t search;
    uint16_t places;

    std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), size}; }
    const char* first_place() const { return reinterpret_cast<const char*>(this + 1) + size; }
};

struct SharedPlaces::Shared {
    std::atomic<uint32_t> used;         // bytes of `content`
    std::atomic<uint32_t> where[slots];  // one more than a place in `content`, in units
    alignas(unit) char content[room];
};

std::unique_ptr<SharedPlaces> SharedPlaces::make() {
#ifdef __linux__
    static_assert(std::atomic<uint32_t>::is_always_lock_free);
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) return std::unique_ptr<SharedPlaces>(new SharedPlaces(static_cast<Shared*>(memory)));
#endif
    return nullptr;
}

SharedPlaces::~SharedPlaces() {
#ifdef __linux__
    munmap(shared_, sizeof(Shared));
#endif
}

const SharedPlaces::Told* SharedPlaces::told(uint32_t place) const {
    return reinterpret_cast<const Told*>(shared_->content + static_cast<size_t>(place - 1) * unit);
}

bool SharedPlaces::find(std::string_view key, int search, std::vector<Place>& places) const {
    const uint64_t hash = hash_of(key) + static_cast<uint64_t>(search);
    for (uint32_t number = 0; number < tries; ++number) {
        const uint32_t place = shared_->where[(hash + number) % slots].load(std::memory_order_acquire);
        if (place == 0) return false;
        const Told& each = *told(place);
        if (each.hash != hash || each.search != search || each.key() != key) continue;
        places.resize(each.places);
        if (each.places > 0) std::memcpy(places.data(), each.first_place(), each.places * sizeof(Place));
        return true;
    }
    return false;
}

void SharedPlaces::tell(std::string_view key, int search, const std::vector<Place>& places) {
    const size_t size = sizeof(Told) + key.size() + places.size() * sizeof(Place);
    if (size > room / 64 || places.size() > UINT16_MAX || shared_->used.load(std::memory_order_relaxed) > room) return;
    const auto taken = static_cast<uint32_t>((size + unit - 1) / unit * unit);
    const uint32_t start = shared_->used.fetch_add(taken, std::memory_order_relaxed);
    if (start + taken > room) return;
    const uint64_t hash = hash_of(key) + static_cast<uint64_t>(search);
    auto* const fresh = new (shared_->content + start) Told{
        hash, static_cast<uint32_t>(key.size()), static_cast<uint16_t>(search), static_cast<uint16_t>(places.size())};
    std::memcpy(reinterpret_cast<char*>(fresh + 1), key.data(), key.size());
    if (!places.empty())
        std::memcpy(reinterpret_cast<char*>(fresh + 1) + key.size(), places.data(), places.size() * sizeof(Place));
    for (uint32_t number = 0; number < tries; ++number) {
        uint32_t nobody = 0;
        if (shared_->where[(hash + number) % slots].compare_exchange_strong(nobody, start / unit + 1,
                                                                            std::memory_order_release))
            return;
    }
}

}  // namespace synthesis
