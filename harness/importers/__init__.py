"""One file per way in which conversations are written down elsewhere; the file name is for `--from`."""
