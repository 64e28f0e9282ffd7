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

Exchange::Exchange(const Knowledge& knowledge, const Description& words)
    : knowledge(knowledge), vocabulary(words, memory) {}

bool Exchange::begin() {
    if (memory.tidy()) vocabulary.forget();
    disclosed_known_ = ties_known_ = false;
    if (!fold(user) || !fold(reply)) return false;
    find_lines(user, user.text, user_lines_);
    find_lines(reply, reply.text, reply_lines_);
    if (!reply.own.empty()) find_lines(reply, reply.own, own_lines_);
    return true;
}

void Exchange::forget() {
    memory.forget();
    vocabulary.forget();
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
}

void Exchange::find_lines(const Folded& folded, View view, std::vector<Sentence*>& lines) {
    lines.clear();
    for (const Span line : folded.lines)
        lines.push_back(&memory.sentence(view.substr(line.start, line.end - line.start)));
}

void Exchange::search_user(const RuleSet& rules, std::vector<Hit>& found) {
    rules.hits(user, user.text, user_lines_, true, memory, found);
}

void Exchange::search_reply(const RuleSet& rules, std::vector<Hit>& found) {
    rules.hits(reply, reply.text, reply_lines_, false, memory, found);
}

void Exchange::search_own(const RuleSet& rules, std::vector<Hit>& found) {
    if (reply.own.empty()) return search_reply(rules, found);
    rules.hits(reply, reply.own, own_lines_, false, memory, found);
}

}  // namespace synthesis
