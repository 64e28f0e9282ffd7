"""One file per gate, a tool that an agent may call; the file name is the gate's name."""
