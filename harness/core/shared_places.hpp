// What processes tell each other: where rules match in a sentence. Copies of one process, made after it has got
// this, look at a sentence once for all of them.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "rules.hpp"

namespace synthesis {

// A table in memory that the copies share. Nobody waits for anybody: what is told is written first and shown then, so
// that one who is killed in the middle leaves nothing half said. When it is full, no more is told.
class SharedPlaces {
public:
    // Null where processes are not copied.
    static std::unique_ptr<SharedPlaces> make();
    ~SharedPlaces();
    SharedPlaces(const SharedPlaces&) = delete;
    SharedPlaces& operator=(const SharedPlaces&) = delete;

    // `key` is a sentence, `search` what was looked for in it. False where nobody has told.
    bool find(std::string_view key, int search, std::vector<Place>& places) const;
    void tell(std::string_view key, int search, const std::vector<Place>& places);

private:
    struct Shared;
    struct Told;

    explicit SharedPlaces(Shared* shared) : shared_(shared) {}
    const Told* told(uint32_t place) const;

    Shared* shared_;
};

}  // namespace synthesis
