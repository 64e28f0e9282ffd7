"""One file per turn dimension, its numbers beside it; the file name is the dimension's public name."""
