"""What commands do with memory that they have freed; a library leaves that to the program it is used by."""


def keep_freed_memory() -> None:
    """Have it at hand for the next block of the input: from the system it comes page by page, each cleared.

    With two processes that is a tenth of the time of a large check.
    """
    try:
        from harness._core import keep_freed_memory
    except (
        ImportError
    ):  # without the core other things count; one that does not load is told where it is used
        return
    keep_freed_memory()
