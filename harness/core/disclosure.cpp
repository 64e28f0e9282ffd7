// Whether a message lets something vulnerable be seen.
#include "exchange.hpp"

namespace synthesis {

const std::vector<Hit>& Exchange::disclosed() {
    if (!disclosed_known_) {
        search_user(disclosure_rules, disclosed_);
        if (disclosed_.empty()) find_told_plainly();
        disclosed_known_ = true;
    }
    return disclosed_;
}

// Someone tells of people: with a sign that something is amiss, or with nothing of everyday talk in it.
void Exchange::find_told_plainly() {
    uint32_t everything = 0;
    bool exclaims = false;
    for (size_t number = 0; number < user.lines.size(); ++number) {
        const Said& said = user_said(number);
        everything |= said.marks;
        exclaims |= said.exclaims;
    }
    if (everything & mark::everyday) return;
    const bool bare = !(everything & mark::neutral_talk) && !exclaims;
    for (size_t number = 0; number < user.lines.size(); ++number) {
        const Said& said = user_said(number);
        const bool amiss = bare || said.marks & mark::trouble;
        if (!amiss || said.asks || !(said.marks & mark::told_of)) continue;
        const Span place = user.origin(user.lines[number].start, user.lines[number].end);
        disclosed_.push_back(
            {place.start, place.end, knowledge.disclosure.told_plainly, knowledge.disclosure.group, true});
        return;
    }
}

}  // namespace synthesis
