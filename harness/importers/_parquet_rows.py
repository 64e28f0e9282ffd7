"""Write the rows of a Parquet file as lines of JSON: run in a process of its own, see `child_lines`.

What reads Parquet unpacks whole groups of rows, however large somebody made them, starts threads and does
not give back all that it took. None of that is to be the business of who reads the rows.
"""

import os
import re
import signal
import sys

from harness.child_lines import END

_ROWS = 1000
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "2GB",
    "autoinstall_known_extensions": False,
}
_QUOTED = re.compile(r"[\"'].*[\"']", re.S)
"""The name of the file, which is told anyway, or words of a row, which may be nobody's business."""


def write_rows(path: str) -> None:
    """To standard output; where the file cannot be read, why goes to standard error."""
    import duckdb

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # nobody reads on
    try:
        with duckdb.connect(config=_SETTINGS) as connection:
            connection.execute("SET streaming_buffer_size = '100KB'")
            rows = connection.execute("SELECT to_json(t) FROM read_parquet(?) t", [path])
            while some := rows.fetchmany(_ROWS):
                sys.stdout.buffer.write(b"".join(f"{row}\n".encode() for (row,) in some))
    except duckdb.Error as error:
        sys.stdout.flush()
        sys.stderr.write(_QUOTED.sub("…", str(error)).splitlines()[0])
        sys.stderr.flush()
        os._exit(1)  # it would complain of what was not let go
    sys.stdout.buffer.write(END)
    sys.stdout.flush()
