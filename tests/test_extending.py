"""docs/extending.md does what it says: its code blocks are the files, built, installed and run from here."""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness import lexicon
from harness.checkers.topic_pivot import PIVOT_GROUPS
from harness.settings import find_settings
from harness.text import fold

ROOT = Path(__file__).parent.parent
PIP = ["pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", "site"]
PROGRAMS = {"synthesis": ["harness"], "pytest": ["pytest", "-q", "-p", "no:cacheprovider"]}

_BLOCK = re.compile(r"^```(\w+)(?: (file|append)=(\S+))?\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    language: str
    use: str
    path: str
    body: str


BLOCKS = [
    Block(*(part or "" for part in found))
    for found in _BLOCK.findall((ROOT / "docs" / "extending.md").read_text("utf-8"))
]
FILES = {block.path: block.body for block in BLOCKS if block.use == "file"}
ADDED = {block.path: block.body for block in BLOCKS if block.use == "append"}
RUN = [block for block in BLOCKS if not block.use]
CASES = "kinder-checks/cases.jsonl"
PACKAGE = "kinder-checks/kinder_checks/"
WORDS = PACKAGE + "lexicons/apology_overload/en.toml"
REASSURANCE = "harness/lexicons/unverifiable_reassurance/"


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, body in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(body, "utf-8")


def _python(arguments: Sequence[str], folder: Path, path: Path | None) -> subprocess.CompletedProcess[str]:
    """Our own interpreter in that folder, with one more place to find packages in."""
    places = filter(None, [str(path or ""), os.environ.get("PYTHONPATH")])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    env.pop("MCP_OUTPUT", None)
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def _report(folder: Path, path: Path | None, cases: str = CASES) -> dict[str, Any]:
    done = _python(["-m", "harness", "check", cases, "--json"], folder, path)
    assert done.stderr == ""
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _verdict(report: Mapping[str, Any], case: int, check: str) -> dict[str, Any]:
    verdict: dict[str, Any] = report["results"][case]["checks"][check]
    return verdict


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package's source, and with the package installed under `site`."""
    folder = tmp_path_factory.mktemp("extending")
    _write(folder, {path: body for path, body in FILES.items() if path.startswith("kinder-checks/")})
    done = _python(["-m", *PIP, "./kinder-checks"], folder, None)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this project's own files, to add to."""
    for name in ("harness", "schemas", "data"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def _one_case(folder: Path, assistant: str, check: str) -> str:
    row = {"id": "DOC-1", "user": "Hello.", "assistant": assistant, "checks": [check]}
    (folder / "one.jsonl").write_text(json.dumps(row) + "\n")
    return "one.jsonl"


def test_every_block_of_the_page_is_used_here() -> None:
    fences = (ROOT / "docs" / "extending.md").read_text("utf-8").count("\n```")
    assert fences == 2 * len(BLOCKS)
    assert len(FILES) + len(ADDED) + len(RUN) == len(BLOCKS)
    assert [block.language for block in RUN] == ["bash", "python", "python"]
    assert sorted(FILES) == [
        "embeddings/synthesis.toml",
        REASSURANCE + "nl.toml",
        CASES,
        PACKAGE + "__init__.py",
        PACKAGE + "apology_overload.py",
        WORDS,
        "kinder-checks/pyproject.toml",
        "kinder-checks/test_apology_overload.py",
        "synthesis.toml",
    ]
    assert list(ADDED) == [REASSURANCE + "en.toml"]


def test_the_page_names_each_file_in_its_text_too() -> None:
    prose = _BLOCK.sub("", (ROOT / "docs" / "extending.md").read_text("utf-8"))
    named = [path.removeprefix("embeddings/") for path in [*FILES, *ADDED]]
    assert [path for path in named if f"`{path}`" not in prose] == []


def test_the_commands_run_in_the_order_given(installed: Path) -> None:
    install, *others = (shlex.split(line) for line in RUN[0].body.splitlines())
    assert install == ["pip", "install", "./kinder-checks"]
    assert [program for program, *_ in others] == ["pytest", "synthesis"]
    outputs = []
    for program, *arguments in others:
        done = _python(["-m", *PROGRAMS[program], *arguments], installed, installed / "site")
        assert done.returncode == 0, done.stdout + done.stderr
        outputs.append(done.stdout)
    examples = sum(len(rule.entry.match) + len(rule.entry.no_match) for rule in _rules(WORDS).rules)
    assert f"{examples} passed" in outputs[0]
    assert "apology_overload" in outputs[1]


def _rules(path: str) -> lexicon.Lexicon:
    return lexicon.parse(FILES[path].encode(), path)


@pytest.mark.parametrize("block", RUN[1:], ids=["check_turn", "set_embedding_adapter"])
def test_the_python_runs_as_it_stands(block: Block, installed: Path) -> None:
    done = _python(["-W", "error", "-c", block.body], installed, installed / "site")
    assert done.returncode == 0, done.stderr


def test_the_report_has_the_new_check_with_its_evidence(installed: Path) -> None:
    report = _report(installed, installed / "site")
    jsonschema.validate(report, json.loads((ROOT / "schemas" / "eval_report.schema.json").read_bytes()))
    caught, fine = (_verdict(report, case, "apology_overload") for case in (0, 1))
    assert (caught["status"], caught["pass"], caught["apologies"]) == ("failed", False, 3)
    assert caught["apology_hits"] == ["I'm so sorry", "I do apologise"]
    assert (fine["status"], fine["pass"], fine["apologies"]) == ("passed", True, 1)
    said = json.loads(FILES[CASES].splitlines()[0])["assistant"]
    assert [(span["rule"], said[span["start"] : span["end"]]) for span in caught["spans"]] == [
        ("said-sorry", "I'm so sorry"),
        ("said-apologise", "I do apologise"),
        ("said-sorry", "I'm so sorry"),
    ]
    assert report["failures"] == [
        {
            "id": "SORRY-1",
            "failed": ["apology_overload"],
            "evidence": {"apology_hits": ["I'm so sorry", "I do apologise"]},
            "expected_failure": True,
        }
    ]
    assert report["summary"]["by_check"] == {
        "apology_overload": {"passed": 1, "failed": 1, "not_applicable": 0}
    }
    assert report["summary"]["label_accuracy_by_check"]["apology_overload"]["accuracy"] == 100
    assert report["stamp"]["lexicons"]["apology_overload"] == {
        "language": "en",
        "version": "1",
        "sha256": hashlib.sha256(FILES[WORDS].encode()).hexdigest(),
    }


def test_a_misspelt_name_is_refused_and_the_new_one_offered(installed: Path) -> None:
    cases = _one_case(installed, "I'm sorry.", "apology_overlord")
    done = _python(["-m", "harness", "check", cases], installed, installed / "site")
    assert done.returncode == 1
    assert 'one.jsonl:1: DOC-1:/checks/0: unknown check "apology_overlord"' in done.stderr
    assert "use agency_language, apology_overload, topic_pivot, unverifiable_reassurance\n" in done.stderr


def test_where_the_package_is_not_installed_its_check_is_unknown(installed: Path) -> None:
    done = _python(["-m", "harness", "check", CASES], installed, None)
    assert done.returncode == 1
    assert done.stderr.count('unknown check "apology_overload"') == 4


@pytest.mark.parametrize(
    ("point", "check", "said"),
    [
        (
            "unverifiable_reassurance = kinder_checks.apology_overload",
            "unverifiable_reassurance",
            '"mind_reading_hits":',
        ),
        (
            "sorry = kinder_checks.apology_overload:check",
            "sorry",
            '"sorry" points at function, not at a module',
        ),
    ],
    ids=["a name of ours is not taken over", "an entry point must name a module"],
)
def test_what_an_entry_point_cannot_do(
    point: str, check: str, said: str, installed: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    shutil.copytree(installed / "site" / "kinder_checks", site / "kinder_checks")
    _write(
        site / "wrong-1.0.0.dist-info",
        {
            "METADATA": "Metadata-Version: 2.1\nName: wrong\nVersion: 1.0.0\n",
            "entry_points.txt": f"[harness.checkers]\n{point}\n",
        },
    )
    cases = _one_case(tmp_path, "I'm sorry.", check)
    done = _python(["-m", "harness", "check", cases, "--json"], tmp_path, site)
    assert "Traceback" not in done.stderr
    assert said in done.stdout + done.stderr


def test_in_this_project_the_same_two_files_are_enough(checkout: Path) -> None:
    checker = FILES[PACKAGE + "apology_overload.py"]
    assert checker.count(', package="kinder_checks"') == 1
    _write(
        checkout,
        {
            "harness/checkers/apology_overload.py": checker.replace(', package="kinder_checks"', ""),
            "harness/lexicons/apology_overload/en.toml": FILES[WORDS],
            CASES: FILES[CASES],
        },
    )
    printed = _python(["-m", "harness", "schema", "eval_report"], checkout, checkout)
    schema = json.loads(printed.stdout)
    report = _report(checkout, checkout)
    jsonschema.validate(report, schema)
    del report["results"][0]["checks"]["apology_overload"]["apologies"]
    with pytest.raises(jsonschema.ValidationError, match="'apologies' is a required property"):
        jsonschema.validate(report, schema)


def test_an_entry_added_to_a_lexicon_counts(checkout: Path) -> None:
    path = REASSURANCE + "en.toml"
    said = "The stars will look after you."
    cases = _one_case(checkout, said, "unverifiable_reassurance")
    before = _verdict(_report(checkout, checkout, cases), 0, "unverifiable_reassurance")
    with (checkout / path).open("a", encoding="utf-8") as file:
        file.write(f"\n{ADDED[path]}")
    after = _verdict(_report(checkout, checkout, cases), 0, "unverifiable_reassurance")
    assert "stars-promise" not in [span["rule"] for span in before["spans"]]
    assert "stars-promise" in [span["rule"] for span in after["spans"]]
    assert said[:-1] in after["guarantee_hits"]
    assert after["status"] == "failed"


def test_a_language_added_is_used(checkout: Path) -> None:
    _write(checkout, {path: FILES[path] for path in (REASSURANCE + "nl.toml", "synthesis.toml")})
    cases = _one_case(checkout, "Het komt vast goed.", "unverifiable_reassurance")
    report = _report(checkout, checkout, cases)
    verdict = _verdict(report, 0, "unverifiable_reassurance")
    assert (verdict["status"], verdict["guarantee_hits"]) == ("failed", ["Het komt vast goed"])
    assert report["stamp"]["lexicons"]["unverifiable_reassurance"]["language"] == "nl"


def test_the_sentences_of_the_language_added_are_judged(checkout: Path) -> None:
    _write(checkout, {REASSURANCE + "nl.toml": FILES[REASSURANCE + "nl.toml"]})
    asked = (
        "import json; from harness import check_turn, lexicon\n"
        "name = 'unverifiable_reassurance'\n"
        "user = 'Mijn moeder is ziek.'\n"
        "judge = lambda text: check_turn(user, text, checks=[name], language='nl')[name].status\n"
        "entries = [rule.entry for rule in lexicon.load(name, 'nl').rules]\n"
        "print(json.dumps([[list(map(judge, entry.match)), list(map(judge, entry.no_match))]"
        " for entry in entries]))"
    )
    done = _python(["-c", asked], checkout, checkout)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        [["failed"] * len(rule.entry.match), ["passed"] * len(rule.entry.no_match)]
        for rule in _rules(REASSURANCE + "nl.toml").rules
    ]


def _needed() -> list[str]:
    """The lists that the page says `topic_pivot` needs."""
    page = (ROOT / "docs" / "extending.md").read_text("utf-8")
    [row] = [line for line in page.splitlines() if line.startswith("| `topic_pivot` |")]
    return re.findall(r"`(\w+)`", row.split("|")[2])


def _dutch_pivot(lists: Sequence[str]) -> str:
    groups = ("vulnerability", "acknowledgement", "follow_up", *PIVOT_GROUPS)
    entries = (
        f"[[entry]]\nid = '{number}'\ngroup = '{group}'\npattern = 'xyz'\nwhy = 'w'\n"
        "match = ['xyz']\nno_match = ['n']\n"
        for number, group in enumerate(groups)
    )
    return 'version = "1"\n[words]\n' + "".join(f"{name} = ['ik']\n" for name in lists) + "".join(entries)


def test_the_word_lists_said_to_be_needed_are_enough_and_each_is(checkout: Path) -> None:
    asked = (
        "from harness import check_turn\n"
        "print(check_turn('xyz', 'Oma is gevallen.', checks=['topic_pivot'], language='nl')"
        "['topic_pivot'].status)\n"
        "check_turn('Ik ben gevallen.', 'Oma ook.', checks=['topic_pivot'], language='nl')"
    )
    path = "harness/lexicons/topic_pivot/nl.toml"
    needed = _needed()
    _write(checkout, {path: _dutch_pivot(needed)})
    enough = _python(["-c", asked], checkout, checkout)
    assert (enough.returncode, enough.stdout) == (0, "failed\n"), enough.stderr
    for name in needed:
        _write(checkout, {path: _dutch_pivot([other for other in needed if other != name])})
        lacking = _python(["-c", asked], checkout, checkout)
        assert f'topic_pivot/nl.toml: no word list "{name}"\n  fix: add {name} = [' in lacking.stderr


def test_a_language_without_a_lexicon_lists_those_there_are(checkout: Path) -> None:
    _write(checkout, {path: FILES[path] for path in (REASSURANCE + "nl.toml", "synthesis.toml")})
    cases = _one_case(checkout, "Het komt vast goed.", "topic_pivot")
    done = _python(["-m", "harness", "check", cases], checkout, checkout)
    assert done.returncode == 1
    assert 'no lexicon for language "nl"\n  fix: use one of: en, or add ' in done.stderr


@pytest.mark.parametrize("path", [REASSURANCE + "nl.toml", REASSURANCE + "en.toml"])
def test_the_examples_of_the_entries_shown_hold(path: str) -> None:
    source = FILES[path] if path in FILES else f'version = "1"\n{ADDED[path]}'
    rules = lexicon.parse(source.encode(), path)
    for rule in rules.rules:
        for texts, expected in ((rule.entry.match, True), (rule.entry.no_match, False)):
            for text in texts:
                found = {hit.rule for hit in rules.hits(fold(text), rule.entry.group)}
                assert (rule.entry.id in found) is expected, text


def test_the_setting_for_embeddings_is_one_the_settings_know(tmp_path: Path) -> None:
    _write(tmp_path, {"synthesis.toml": FILES["embeddings/synthesis.toml"]})
    assert find_settings(tmp_path).check.similarity == "embeddings"
