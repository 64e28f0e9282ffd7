"""One file per checker; the file name is the checker's public name."""
