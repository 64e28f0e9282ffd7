"""One file per place where work is done."""
