#include "vocabulary.hpp"

namespace synthesis {

namespace {

constexpr std::pair<const char*, uint32_t> lists[] = {
    {"function", mark::function},
    {"pronoun", mark::pronoun},
    {"personal", mark::personal},
    {"opener", mark::opener},
    {"person", mark::person},
    {"everyday", mark::everyday},
    {"neutral_talk", mark::neutral_talk},
    {"trouble", mark::trouble},
    {"told_of", mark::told_of},
    {"passed_on", mark::passed_on},
    {"says_little", mark::says_little},
    {"feeling", mark::feeling},
    {"away", mark::away},
    {"neutral", mark::neutral},
    {"third", mark::third},
};

constexpr int32_t most_digits = 6;
constexpr size_t most_fields = 64;

[[noreturn]] void refuse(const char* why) {
    PyErr_SetString(PyExc_ValueError, why);
    throw PythonError{};
}

View bare(View word) { return word.substr(0, word.find(U'\'')); }

bool ends_with(View word, View ending) {
    return word.size() >= ending.size() && word.substr(word.size() - ending.size()) == ending;
}

std::unordered_map<Text, uint64_t, Hash, std::equal_to<>> read_fields(const Description& fields) {
    std::unordered_map<Text, uint64_t, Hash, std::equal_to<>> found;
    std::vector<Text> names;
    for (const auto& [stem, of] : fields.pairs()) {
        Items items(of);
        for (Py_ssize_t item = 0; item < items.size(); ++item) {
            const Text name = text_of(items[item]);
            const auto at = std::find(names.begin(), names.end(), name) - names.begin();
            if (at == static_cast<ptrdiff_t>(names.size())) names.push_back(name);
            if (names.size() > most_fields) refuse("too many fields");
            found[stem] |= uint64_t{1} << at;
        }
    }
    return found;
}

Kind kind_of(uint32_t marks) {
    if (marks & mark::function) return Kind::function;
    if (marks & mark::feeling) return Kind::feeling;
    if (marks & mark::away) return Kind::away;
    return marks & mark::neutral ? Kind::neutral : Kind::fresh;
}

}  // namespace

Vocabulary::Vocabulary(const Description& description, Memory& memory)
    : memory_(memory),
      fields_(read_fields(description.section("fields"))),
      plural_(description.texts("plural")),
      vowels_(description.text("vowels")),
      kept_double_(description.text("kept_double")),
      short_(description.number("short")),
      claim_stem_(description.number("claim_stem")) {
    const Description words = description.section("words");
    for (const auto& [name, bit] : lists)
        for (const Text& word : words.texts(name)) marks_[word] |= bit;
    for (const auto& [word, name] : description.section("same").pairs()) same_[word] = text_of(name);
    for (const auto& [word, value] : description.section("numerals").pairs())
        numerals_[word] = number_of(value);
    const std::vector<Text> verbal = description.texts("verbal");
    Items endings(description.get("endings"));
    for (Py_ssize_t at = 0; at < endings.size(); ++at) {
        Items pair(endings[at], 2);
        Text ending = text_of(pair[0]);
        if (ending.empty()) refuse("an ending is empty");
        const bool is_verbal = std::find(verbal.begin(), verbal.end(), ending) != verbal.end();
        endings_.push_back({ending, text_of(pair[1]), is_verbal});
    }
    for (const Text& ending : plural_)
        if (ending.empty()) refuse("an ending is empty");
}

void Vocabulary::learn(int32_t number) {
    const Text known = memory_.word_text(number);
    const View text = known;
    Word word;
    word.known = true;
    word.marks = marks_of(text);
    word.kind = kind_of(word.marks);
    const Text stem = this->stem(text);
    const auto fields = fields_.find(stem);
    word.fields = fields == fields_.end() ? 0 : fields->second;
    word.number = value_of(text);
    word.stem = memory_.word(stem);
    if (text.size() >= claim_stem_ && !(word.marks & mark::says_little))
        word.claim_stem = memory_.word(text.substr(0, claim_stem_));
    if (number >= static_cast<int32_t>(words_.size())) words_.resize(number + 1);
    words_[number] = word;
}

uint32_t Vocabulary::marks_of(View word) const {
    constexpr uint32_t of_form = mark::feeling | mark::away | mark::neutral;
    auto found = [this](View form) {
        const auto at = marks_.find(form);
        return at == marks_.end() ? 0 : at->second;
    };
    return (found(word) & ~(of_form | mark::third)) | (found(singular(word)) & of_form) |
           (found(bare(word)) & mark::third);
}

int32_t Vocabulary::value_of(View word) const {
    if (!is_digit(word[0])) {
        const auto found = numerals_.find(word);
        return found == numerals_.end() ? -1 : found->second;
    }
    int32_t value = 0, digits = 0;
    for (const char32_t c : word) {
        if (!is_digit(c) || ++digits > most_digits) break;
        value = 10 * value + Py_UNICODE_TODECIMAL(c);
    }
    return value;
}

Text Vocabulary::stem(View word) const {
    const View before = bare(word);
    auto found = same_.find(before);
    if (found == same_.end()) found = same_.find(singular(before));
    return found == same_.end() ? cut(before) : found->second;
}

View Vocabulary::singular(View word) const {
    const View before = bare(word);
    for (const Text& ending : plural_)
        if (before.size() > 2 + ending.size() && ends_with(before, ending) && !ends_with(before, U"ss"))
            return before.substr(0, before.size() - ending.size());
    return before;
}

Text Vocabulary::cut(View word) const {
    for (const auto& [ending, instead, verbal] : endings_) {
        if (!ends_with(word, ending) || word.size() < 3 + ending.size() || ends_with(word, U"ss")) continue;
        Text stem = Text(word.substr(0, word.size() - ending.size())) + instead;
        const char32_t last = stem.back();
        if (last == stem[stem.size() - 2] && kept_double_.find(last) == Text::npos) {
            stem.pop_back();
        } else if (stem.size() == 3 && verbal && vowels_.find(stem[1]) != Text::npos) {
            stem.push_back(U'e');
        }
        return stem;
    }
    return Text(word.size() > 4 && word.back() == U'e' ? word.substr(0, word.size() - 1) : word);
}

const Said& Vocabulary::said(Sentence& sentence, View text) {
    Said& said = sentence.said;
    if (said.known) return said;
    places_.clear();
    sentence_.clear();
    each_word(text, [&](int32_t start, int32_t end) {
        places_.push_back({start, end});
        sentence_.push_back(memory_.word(text.substr(start, end - start)));
    });
    sort_words(said);
    split(text);
    numbers(sentence_.begin(), sentence_.end(), numbers_);
    const bool asks_first = sentence_.empty() || word(sentence_[0]).marks & mark::opener;
    said.asks = asks_first || text.back() == U'?';
    said.exclaims = text.find(U'!') != View::npos;
    said.personal = sentence_.size() <= short_ || said.marks & mark::personal;
    said.words = memory_.keep(sentence_);
    said.stems = memory_.keep(stems_);
    said.clauses = memory_.keep(clauses_);
    said.numbers = memory_.keep(numbers_);
    said.known = true;
    return said;
}

void Vocabulary::sort_words(Said& said) {
    stems_.clear();
    for (const int32_t number : sentence_) {
        const Word& each = word(number);
        said.marks |= each.marks;
        if (each.marks & mark::pronoun) ++said.pronouns;
        if (each.kind == Kind::function) continue;
        if (each.stem >= static_cast<int32_t>(at_.size())) at_.resize(memory_.words());
        int32_t& at = at_[each.stem];
        if (at == 0) {
            stems_.push_back({each.stem, each.kind, each.fields});
            at = static_cast<int32_t>(stems_.size());
        } else {
            stems_[at - 1].kind = each.kind;
        }
    }
    for (const Stem& each : stems_) at_[each.stem] = 0;
}

void Vocabulary::split(View text) {
    clauses_.clear();
    const auto size = static_cast<int32_t>(text.size()), words = static_cast<int32_t>(places_.size());
    int32_t next = 0;
    for (int32_t start = 0; start < size; ++start) {
        if (text[start] == U',' || text[start] == U';') continue;
        const size_t found = text.find_first_of(U",;", start);
        const int32_t end = found == View::npos ? size : static_cast<int32_t>(found);
        const int32_t first = next;
        while (next < words && places_[next].start < end) ++next;
        Clause clause{start, end, first, next, false};
        clause.asks = clause.first == clause.last || text[end - 1] == U'?' ||
                      word(sentence_[clause.first]).marks & mark::opener;
        clauses_.push_back(clause);
        start = end;
    }
}

}  // namespace synthesis
