// The sentences of a text as patterns see them, each read when it is first asked for.
#pragma once

#include "alphabet.hpp"
#include "words.hpp"

namespace synthesis {

// A word, in offsets of its sentence, and its number.
struct Run {
    int32_t start;
    int32_t end;
    int32_t word;
};

// One sentence: its classes with the one for its end, and its runs. Gone when the next is read.
struct ReadLine {
    const uint8_t* classes;
    int32_t size;  // without the end
    const Run* first_run;
    const Run* last_run;  // one behind
};

class Reading {
public:
    // A text of so many sentences.
    void begin(size_t lines);
    ReadLine line(size_t number, View text, const Alphabet& alphabet, Words& words);

private:
    struct Place {
        int32_t classes = -1;
        int32_t first_run = 0;
        int32_t last_run = 0;
    };

    void read(View text, const Alphabet& alphabet, Words& words);

    std::vector<Place> places_;
    std::vector<uint8_t> classes_;
    std::vector<Run> runs_;
};

}  // namespace synthesis
