"""One file per way to reach a model; the file name is what stands before the colon in `--model`."""
