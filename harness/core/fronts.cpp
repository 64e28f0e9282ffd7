#include "fronts.hpp"

#include <algorithm>

namespace synthesis {

namespace {

constexpr size_t most_fronts = 1 << 15;
constexpr size_t most_alive = 1 << 19;

}  // namespace

bool Fronts::is_full() const { return fronts_.size() > most_fronts || alive_.size() > most_alive; }

void Fronts::forget() {
    steps_.clear();
    fronts_.clear();
    alive_.clear();
    known_.clear();
}

int32_t Fronts::start(Before before) {
    if (fronts_.empty()) {
        steps_.assign(most_steps, {});
        for (const Before each : {text_start, line_start, word, other}) {
            found_.clear();
            for (size_t pattern = 0; pattern < automata_.size(); ++pattern)
                found_.push_back({static_cast<int16_t>(pattern), Automaton::start(each)});
            numbered();
        }
    }
    return before;
}

int32_t Fronts::behind(int32_t front, const ReadLine& line, const Run& run) {
    return next(front, what(line, run), line.classes + run.start, run.end + 1 - run.start);
}

int32_t Fronts::behind(int32_t front, const uint8_t* marks, int32_t size) {
    int32_t what = -1;  // below nought, which no word is
    for (int32_t at = 0; at < size; ++at) what = what * (1 << class_bits) + marks[at];
    return next(front, what, marks, size);
}

int32_t Fronts::next(int32_t front, int32_t what, const uint8_t* classes, int32_t size) {
    Step& step = steps_[slot_of(front, what)];
    if (step.front == front && step.what == what) return step.next;
    // Behind the first character most of it is gone, and that comes back more often than the whole.
    if (size > 1) follow(behind(front, classes, 1), classes + 1, size - 1);
    else follow(front, classes, 1);
    step = {front, what, numbered()};
    return step.next;
}

void Fronts::follow(int32_t front, const uint8_t* classes, int32_t size) {
    found_.clear();
    for (int32_t at = fronts_[front].begin; at < fronts_[front].end; ++at)
        automata_[alive_[at].pattern]->expect(alive_[at].state);
    for (int32_t at = fronts_[front].begin; at < fronts_[front].end; ++at) {
        const Alive alive = alive_[at];
        bool matched = alive.state == Automaton::none;
        const Automaton::State state = automata_[alive.pattern]->follow(alive.state, classes, size, matched);
        if (state != Automaton::none || matched) found_.push_back({alive.pattern, matched ? Automaton::none : state});
    }
}

// The number of the front that was found.
int32_t Fronts::numbered() {
    uint64_t hash = found_.size();
    for (const auto& [pattern, state] : found_) {
        hash = (hash ^ static_cast<uint64_t>(pattern) << 16 ^ state) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    if (2 * (fronts_.size() + 1) > known_.size()) grow();
    size_t slot = hash & (known_.size() - 1);
    for (; known_[slot]; slot = (slot + 1) & (known_.size() - 1)) {
        const Front& front = fronts_[known_[slot] - 1];
        if (front.hash == hash && std::equal(found_.begin(), found_.end(), alive_.begin() + front.begin,
                                             alive_.begin() + front.end))
            return known_[slot] - 1;
    }
    const auto begin = static_cast<int32_t>(alive_.size());
    alive_.insert(alive_.end(), found_.begin(), found_.end());
    Front fresh{hash, begin, static_cast<int32_t>(alive_.size()), {}};
    for (const Alive& each : found_) fresh.patterns.add(each.pattern);
    fronts_.push_back(fresh);
    return (known_[slot] = static_cast<int32_t>(fronts_.size())) - 1;
}

void Fronts::grow() {
    known_.assign(std::max<size_t>(1024, 2 * known_.size()), 0);
    for (size_t number = 0; number < fronts_.size(); ++number) {
        size_t slot = fronts_[number].hash & (known_.size() - 1);
        while (known_[slot]) slot = (slot + 1) & (known_.size() - 1);
        known_[slot] = static_cast<int32_t>(number) + 1;
    }
}

}  // namespace synthesis
