#include "automaton.hpp"

#include <algorithm>

#include "automaton_work.hpp"

namespace synthesis {

namespace {

constexpr size_t most_states = 0x7fff;  // an entry has no room for more
constexpr int32_t most_groups = 64;
constexpr size_t too_many = 1u << 30;   // bytes, so that all is soon worked out anew

constexpr uint64_t odd = 0x2127599bf4325c37ull;

Classes only(uint8_t number) {
    Classes found;
    found.add(number);
    return found;
}

}  // namespace

Automaton::Work& Automaton::work() {
    static thread_local Work work;
    return work;
}

Automaton::Automaton(const Tree& tree, Alphabet& alphabet, size_t& bytes, bool any)
    : any_(any), alphabet_(alphabet), program_(tree, alphabet), bytes_(bytes) {}

// The characters, or the end, that lead on from an instruction, or before which a match is found.
void Automaton::add_firsts(Work& now, int32_t instruction, Before before, Classes& found) const {
    std::vector<std::pair<int32_t, Classes>>& stack = now.allowed;
    const Classes every = Classes::below(alphabet_.classes());
    stack.assign(1, {instruction, every});
    while (!stack.empty()) {
        auto [number, allowed] = stack.back();
        stack.pop_back();
        const Instruction& each = program_[number];
        if (each.kind == Instruction::Kind::assertion)
            allowed &= alphabet_.holding(static_cast<Assertion>(each.argument), before);
        if (!(allowed & ~found)) continue;
        if (allowed == every ? !now.add(number) : !now.add(number, allowed)) continue;
        switch (each.kind) {
            case Instruction::Kind::one_of: found |= allowed & alphabet_.members(each.argument); break;
            case Instruction::Kind::matched: found |= allowed; break;
            case Instruction::Kind::either: stack.push_back({each.other, allowed}); [[fallthrough]];
            case Instruction::Kind::assertion: stack.push_back({each.next, allowed});
        }
    }
}

Classes Automaton::going_on(const Point& point) const {
    Classes found;
    Work& now = work();
    now.begin(program_.size());
    for (int32_t at = point.begin; at < point.end; ++at) {
        const Instruction& each = program_[pool_[at]];
        if (each.kind == Instruction::Kind::one_of) {
            found |= alphabet_.members(each.argument);
        } else {
            add_firsts(now, pool_[at], point.before, found);
        }
    }
    return found;
}

// What stands around is left out of account, so that they may be too many.
Classes Automaton::seconds() const {
    Classes found;
    Work& now = work();
    const auto open = [&](int32_t from) {
        now.stack.assign(1, from);
        while (!now.stack.empty()) {
            const int32_t number = now.stack.back();
            now.stack.pop_back();
            if (!now.add(number)) continue;
            const Instruction& each = program_[number];
            switch (each.kind) {
                case Instruction::Kind::one_of: now.next.push_back(number); break;
                case Instruction::Kind::matched: found = Classes::all(); break;
                case Instruction::Kind::either: now.stack.push_back(each.other); [[fallthrough]];
                case Instruction::Kind::assertion: now.stack.push_back(each.next);
            }
        }
    };
    now.next.clear();
    now.begin(program_.size());
    open(program_.entry());
    now.targets.assign(now.next.begin(), now.next.end());
    now.next.clear();
    now.begin(program_.size());
    for (const int32_t first : now.targets) open(program_[first].next);
    for (const int32_t second : now.next) found |= alphabet_.members(program_[second].argument);
    return found;
}

// Most patterns tell fewer characters apart than all of them together do.
void Automaton::tell_apart() {
    std::vector<bool> used(alphabet_.sets());
    for (int32_t number = 0; number < program_.size(); ++number)
        if (program_[number].kind == Instruction::Kind::one_of) used[program_[number].argument] = true;
    std::vector<Classes> groups;
    for (int number = 0; number < alphabet_.classes(); ++number) groups.push_back(alphabet_.same_kind(number));
    std::sort(groups.begin(), groups.end(), [](const Classes& one, const Classes& two) { return one.parts < two.parts; });
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    for (size_t set = 0; set < used.size(); ++set) {
        if (!used[set]) continue;
        const Classes members = alphabet_.members(static_cast<int32_t>(set));
        for (size_t at = groups.size(); at-- > 0;) {
            const Classes others = groups[at] & ~members;
            if (!others || others == groups[at]) continue;
            groups[at] &= members;
            groups.push_back(others);
        }
    }
    width_ = static_cast<int32_t>(groups.size());
    for (size_t at = 0; at < groups.size(); ++at)
        groups[at].each([&](int number) { own_[number] = static_cast<uint8_t>(at); });
}

bool Automaton::is_fit() {
    if (width_ == 0) tell_apart();
    return width_ <= most_groups;
}

void Automaton::reset() {
    if (!is_fit()) throw Unsupported("a pattern tells too many characters apart");
    last_ = alphabet_.end();
    points_ = {};
    branches_ = {};
    rows_ = {};
    pool_ = {};
    known_.assign(64, 0);
    add_state({0, 0, other});
    Work& now = work();
    for (const Before before : {text_start, line_start, word, other}) {
        now.begin(program_.size());
        now.next.clear();
        add_open(now, program_.entry());
        now.asserts = true;  // a beginning is never taken for another
        firsts_[before] = going_on(points_[state_for(now, before)]);
    }
}

void Automaton::add_state(const Point& point) {
    Branches branches;
    going_on(point).each([&](int number) { branches.alive |= uint64_t{1} << own_[number]; });
    const int size = count_ones(branches.alive);
    if (size > Branches::few) {
        const auto row = static_cast<uint32_t>(rows_.size());
        rows_.resize(rows_.size() + size, unknown);
        branches.entries = {static_cast<Entry>(row), static_cast<Entry>(row >> 16), 0, elsewhere};
        bytes_ += size * sizeof(Entry);
    }
    points_.push_back(point);
    branches_.push_back(branches);
    bytes_ += sizeof(Point) + sizeof(Branches) + 2 * sizeof(State) + sizeof(int32_t) * (point.end - point.begin);
}

int32_t Automaton::match(State state, const uint8_t* classes, int32_t place, int64_t& steps) {
    const uint8_t last = alphabet_.end();
    const int32_t from = place;
    int32_t end = -1;
    for (;; ++place) {
        const Entry next = look_up(state, classes[place]);
        if (next == dead) break;
        if (next & matched_bit) end = place;
        if (classes[place] == last || (any_ && end >= 0)) break;
        if (next >> 1 == state) {
            while (classes[place + 1] == classes[place]) ++place;  // nothing changes while the same comes again
            if (next & matched_bit) end = place;
        }
        state = next >> 1;
    }
    steps += place - from;
    return end;
}

Automaton::State Automaton::follow(State state, const uint8_t* classes, int32_t size, bool& matched) {
    for (int32_t place = 0; place < size && state != none; ++place) {
        const Entry next = look_up(state, classes[place]);
        matched = matched || next & matched_bit;
        state = next >> 1;
    }
    return state;
}

// The state after one more character, or after the end. A match ends before that character: only then is it
// known whether what is asked of both its sides holds.
Automaton::Entry Automaton::step(State state, uint8_t next) {
    const Point from = points_[state];
    Work& now = work();
    now.targets.clear();
    now.begin(program_.size());
    bool matched = false;
    for (int32_t at = from.begin; at < from.end && !matched; ++at) matched = advance(now, pool_[at], from.before, next);
    if (any_ && matched) now.targets.clear();
    now.next.clear();
    now.asserts = false;
    now.begin(program_.size());
    for (int32_t target : now.targets) add_open(now, target);
    Entry found = dead;
    if (matched || !now.next.empty())
        found = static_cast<Entry>(2 * state_for(now, alphabet_.kind_of(next)) + (matched ? matched_bit : 0));
    alike(from, next).each([&](int each) {
        if (branches_[state].alive >> own_[each] & 1) entry(state, own_[each]) = found;
    });
    return found;
}

// The characters that no instruction of a state tells from this one: they all lead to the same.
Classes Automaton::alike(const Point& from, uint8_t next) const {
    Classes found = alphabet_.same_kind(next);
    const auto part = [&](const Classes& set) { found &= set.has(next) ? set : ~set; };
    for (int32_t at = from.begin; at < from.end; ++at) {
        const Instruction& each = program_[pool_[at]];
        if (each.kind == Instruction::Kind::one_of) part(alphabet_.members(each.argument));
        if (each.kind == Instruction::Kind::assertion) return only(next);
    }
    return found;
}

// Adds to the targets what a character leads to from an instruction, the best first; says whether the pattern
// has matched before it. What is of less worth than a match that is found is left.
bool Automaton::advance(Work& now, int32_t instruction, Before before, uint8_t next) const {
    const Instruction& only = program_[instruction];
    if (only.kind == Instruction::Kind::one_of) {  // as nearly all are
        if (alphabet_.members(only.argument).has(next)) now.targets.push_back(only.next);
        return false;
    }
    now.stack.assign(1, instruction);
    while (!now.stack.empty()) {
        const int32_t number = now.stack.back();
        now.stack.pop_back();
        if (!now.add(number)) continue;
        const Instruction& each = program_[number];
        switch (each.kind) {
            case Instruction::Kind::one_of:
                if (alphabet_.members(each.argument).has(next)) now.targets.push_back(each.next);
                break;
            case Instruction::Kind::either:
                now.stack.push_back(each.other);
                now.stack.push_back(each.next);
                break;
            case Instruction::Kind::assertion:
                if (alphabet_.holding(static_cast<Assertion>(each.argument), before).has(next))
                    now.stack.push_back(each.next);
                break;
            case Instruction::Kind::matched: return true;
        }
    }
    return false;
}

// Adds what an instruction leads to without a character, the best first. Assertions stay as they are: what
// comes behind them is not known yet.
void Automaton::add_open(Work& now, int32_t instruction) const {
    if (program_[instruction].kind == Instruction::Kind::one_of) {
        if (now.add(instruction)) now.next.push_back(instruction);
        return;
    }
    now.stack.assign(1, instruction);
    while (!now.stack.empty()) {
        const int32_t number = now.stack.back();
        now.stack.pop_back();
        if (!now.add(number)) continue;
        const Instruction& each = program_[number];
        if (each.kind == Instruction::Kind::either) {
            now.stack.push_back(each.other);
            now.stack.push_back(each.next);
        } else {
            now.asserts = now.asserts || each.kind == Instruction::Kind::assertion;
            now.next.push_back(number);
        }
    }
}

// The state with these instructions; what stands before matters only to assertions.
Automaton::State Automaton::state_for(Work& now, Before before) {
    if (!now.asserts) before = other;
    if (any_) std::sort(now.next.begin(), now.next.end());
    const auto begin = static_cast<int32_t>(pool_.size());
    pool_.insert(pool_.end(), now.next.begin(), now.next.end());
    const Point fresh{begin, static_cast<int32_t>(pool_.size()), before};
    if (2 * points_.size() > known_.size()) grow_known();
    size_t slot = hash_of(fresh) & (known_.size() - 1);
    for (; known_[slot]; slot = (slot + 1) & (known_.size() - 1)) {
        if (!is_same(points_[known_[slot]], fresh)) continue;
        pool_.resize(begin);
        return known_[slot];
    }
    if (points_.size() == most_states) {
        bytes_ += too_many;
        throw TooMuch{};
    }
    known_[slot] = static_cast<State>(points_.size());
    add_state(fresh);
    return known_[slot];
}

uint64_t Automaton::hash_of(const Point& point) const {
    uint64_t hash = point.before;
    for (int32_t at = point.begin; at < point.end; ++at)
        hash = (hash ^ static_cast<uint32_t>(pool_[at])) * odd, hash ^= hash >> 29;
    return hash;
}

bool Automaton::is_same(const Point& one, const Point& two) const {
    return one.before == two.before && std::equal(pool_.begin() + one.begin, pool_.begin() + one.end,
                                                  pool_.begin() + two.begin, pool_.begin() + two.end);
}

void Automaton::grow_known() {
    known_.assign(2 * known_.size(), 0);
    for (size_t number = 1; number < points_.size(); ++number) {
        size_t slot = hash_of(points_[number]) & (known_.size() - 1);
        while (known_[slot]) slot = (slot + 1) & (known_.size() - 1);
        known_[slot] = static_cast<State>(number);
    }
}

}  // namespace synthesis
