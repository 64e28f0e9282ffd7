#include "exchange.hpp"

namespace synthesis {

namespace {

constexpr size_t large = 1 << 20;  // characters
constexpr size_t many = 1 << 14;   // sentences and such

template <class Item>
void let_go_of(std::vector<Item>& items) {
    if (items.capacity() > many) std::vector<Item>().swap(items);
}

}  // namespace

Exchange::Exchange(Knowledge& knowledge, const Description& words)
    : knowledge(knowledge), vocabulary(words, memory), known_(knowledge) {}

bool Exchange::begin() {
    if (memory.tidy()) vocabulary.forget();
    known_.tidy();
    disclosed_known_ = ties_known_ = false;
    if (!fold(user) || !fold(reply)) return false;
    memory.find(user.text, user.lines, user_lines_);
    memory.find(reply.text, reply.lines, reply_lines_);
    if (!reply.own.empty()) memory.find(reply.own, reply.lines, own_lines_);
    user_reading_.begin(user.lines.size());
    for (Reading* reading : {&reply_reading_, &own_reading_}) reading->begin(reply.lines.size());
    return true;
}

void Exchange::forget() {
    memory.forget();
    vocabulary.forget();
    known_.forget();
}

void Exchange::let_go() {
    for (Folded* folded : {&user, &reply, &piece}) {
        if (folded->original.capacity() <= large) continue;
        Folded small;
        std::swap(*folded, small);  // a string that an empty one is assigned to keeps its memory
    }
    for (auto* lines : {&user_lines_, &reply_lines_, &own_lines_}) let_go_of(*lines);
    let_go_of(disclosed_);
    let_go_of(reach_);
    let_go_of(told_);
    let_go_of(ties_);
    for (Reading* reading : {&user_reading_, &reply_reading_, &own_reading_}) reading->begin(0);
}

void Exchange::search_user(RuleSet set, std::vector<Hit>& found) {
    knowledge.told.hits({user, user.text, user_lines_, user_reading_, true}, set, memory, found);
}

void Exchange::search_reply(RuleSet set, std::vector<Hit>& found) {
    knowledge.answered.hits({reply, reply.text, reply_lines_, reply_reading_, false}, set, memory, found);
}

void Exchange::search_own(RuleSet set, std::vector<Hit>& found) {
    if (reply.own.empty()) return search_reply(set, found);
    knowledge.answered.hits({reply, reply.own, own_lines_, own_reading_, false}, set, memory, found);
}

}  // namespace synthesis
