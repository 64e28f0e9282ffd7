"""One file per kind of subject; the file name is the `type` in a scenario."""
