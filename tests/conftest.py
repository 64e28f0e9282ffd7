"""What many test files share."""

import os
from collections.abc import Iterator

import pytest
from local_model import INSTALL, LocalModel, installed, shared_model


@pytest.fixture(scope="session")
def local_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    """One server for all workers of a test session; skipped where it is not installed, on CI a failure."""
    if not installed():
        reason = f"the local model is not installed: {INSTALL}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    temporary = tmp_path_factory.getbasetemp()
    # A worker's folder lies in that of its session; without workers the parent is everybody's.
    session = temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary
    with shared_model(session / "local_model") as model:
        yield model
