"""The three checkers as plain functions of strings."""

from harness.checkers import agency_language, topic_pivot, unverifiable_reassurance
from harness.checkers.agency_language import AgencyResult
from harness.checkers.topic_pivot import PivotResult
from harness.checkers.unverifiable_reassurance import ReassuranceResult
from harness.records import Turn


def check_agency(assistant: str, user: str | None = None) -> AgencyResult:
    """Does the reply leave the choice with the person? With `user`, plain answers are recognised too."""
    return agency_language.check(Turn(user=user or "", assistant=assistant))


def check_reassurance(assistant: str) -> ReassuranceResult:
    """Does the reply claim to know another mind, or promise what nobody can?"""
    return unverifiable_reassurance.check(Turn(assistant=assistant))


def check_pivot(user: str, assistant: str) -> PivotResult:
    """Does the reply stay with what the person disclosed?"""
    return topic_pivot.check(Turn(user=user, assistant=assistant))
