// One exchange and what the checks share of it, each thing worked out when it is first asked for.
#pragma once

#include "knowledge.hpp"
#include "pairs.hpp"
#include "vocabulary.hpp"

namespace synthesis {

// The words of a sentence by kind; `personal` where it speaks to or of someone.
struct Counts {
    int32_t taken = 0, field = 0, feeling = 0, person = 0, away = 0, fresh = 0;
    bool personal = false;

    bool tied() const { return taken + field + feeling + person > 0; }
    // Below nought where the sentence speaks of other things.
    int32_t balance() const {
        const int32_t held = personal ? 2 * taken - fresh : taken - 2 * fresh;
        return held + field + feeling + person - 3 * away;
    }
};

// One sentence of the reply, in folded offsets.
struct Tie {
    int32_t start;
    int32_t end;
    Counts counts;
    int32_t balance;
};

class Exchange {
public:
    Exchange(Knowledge& knowledge, const Description& words);

    // Where the texts are in `user.original` and `reply.original`. False where they cannot be folded here.
    bool begin();
    // After something went wrong in the middle.
    void forget();
    // Before texts are read: gives back what endless ones needed.
    void let_go();

    const std::vector<Hit>& disclosed();
    const std::vector<Tie>& ties();
    // How alike the two are, from 0 to 1, rounded to six places.
    double similarity();

    // Where the rules match: in the message, in the reply, in the reply's own words.
    void search_user(RuleSet set, std::vector<Hit>& found);
    void search_reply(RuleSet set, std::vector<Hit>& found);
    void search_own(RuleSet set, std::vector<Hit>& found);

    // What a sentence of the message claims and says, and what one of the reply says.
    Claim& user_claim(size_t number) { return memory.claim(*user_lines_[number]); }
    const Said& user_said(size_t number) { return vocabulary.said(*user_lines_[number], user.line(number)); }
    const Said& reply_said(size_t number) {
        return vocabulary.said(*reply_lines_[number], reply.line(number));
    }

    View text_of(const Hit& hit) const {
        const Text& original = hit.by_user ? user.original : reply.original;
        return View(original).substr(hit.start, hit.end - hit.start);
    }

    const Knowledge& knowledge;
    Memory memory;
    Vocabulary vocabulary;
    Folded user, reply;
    Folded piece;  // for folding a piece of a text again
    Pairs pairs;   // for whoever needs it next

private:
    struct Matter {
        std::vector<uint32_t> stems;  // by stem: the round in which the person's message had it
        std::vector<int32_t> numbers;
        uint64_t fields = 0;
        bool persons = false;
    };

    void find_told_plainly();
    void see_matter();
    void choose_clauses();
    bool is_disclosed(int32_t start, int32_t end) const;
    void tie_up();
    Counts count(const Said& said) const;

    std::vector<Sentence*> user_lines_, reply_lines_, own_lines_;
    Reading user_reading_, reply_reading_, own_reading_;
    Knowledge& known_;
    bool disclosed_known_ = false, ties_known_ = false;
    std::vector<Hit> disclosed_;
    std::vector<int32_t> reach_;  // how far the places disclosed so far go
    std::vector<int32_t> told_;   // words of the message that can be taken up
    std::vector<Tie> ties_;
    Matter matter_;
    uint32_t round_ = 0;
};

}  // namespace synthesis
