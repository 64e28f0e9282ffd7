"""One file per criterion; the file name is the scoring key. Every checker is a criterion as well."""
