#include "attempts.hpp"

#include <algorithm>

namespace synthesis {

const std::vector<Attempt>& Attempts::outcome(const uint8_t* classes, int64_t& steps) {
    found_.clear();
    for (int round = 0; round < far && !going_.empty(); ++round) {
        steps += static_cast<int64_t>(going_.size());
        step(classes);
    }
    found_.insert(found_.end(), going_.begin(), going_.end());
    going_.clear();
    std::sort(found_.begin(), found_.end(), [](const Attempt& one, const Attempt& two) { return one.start < two.start; });
    return found_;
}

bool Attempts::any_matches(const uint8_t* classes, int64_t& steps) {
    found_.clear();
    while (!going_.empty() && found_.empty()) {
        steps += static_cast<int64_t>(going_.size());
        step(classes);
    }
    going_.clear();
    return !found_.empty();
}

// One more character for each.
void Attempts::step(const uint8_t* classes) {
    size_t kept = 0;
    for (Attempt& each : going_) {
        if (each.automaton->go_on(each.state, classes, each.place, each.end)) {
            ++each.place;
            going_[kept++] = each;
        } else if (each.end >= 0) {
            each.state = Automaton::none;
            found_.push_back(each);
        }
    }
    going_.resize(kept);
}

}  // namespace synthesis
