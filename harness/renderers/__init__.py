"""One file per output format; the file name is the format's public name."""
