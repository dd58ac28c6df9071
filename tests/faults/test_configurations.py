"""Files of configuration from strangers: none runs code, writes elsewhere, reads the environment or
sends anything, whatever header, group, default or reference it uses.

A file that appears (the canary) shows that planted code ran.
"""

import os
from pathlib import Path

import pytest

from tests.support.jobs import TINY
from tests.support.program import python, typed

pytestmark = pytest.mark.usefixtures("elsewhere")

GLOBAL = "# @package _global_\n"
MAKE = "{_target_: os.mkdir, path: CANARY}"
EVIL = "scheme: {evil: {'()': sympy.sympify, a: '__import__(\"os\").mkdir(\"CANARY\")'}}\n"
CREATE = "${oc.create:{_target_:os.mkdir,path:CANARY}}"
ONLY = "only extrap and the command line may set it"
NOTHING_ELSE = "refer to options, `hydra:` or `now:`, or give the value itself"
"""Remedies of the two refusals."""


def hydra(node: str, more: str = EVIL) -> dict[str, str]:
    """An experiment with a node `hydra`."""
    return {"experiment/x": f"{GLOBAL}{more}hydra: {node}\n"}


def header(package: str, text: str) -> dict[str, str]:
    return {"experiment/x": f"# @package {package}\n{text}\n"}


def default(entry: str, **others: str) -> dict[str, str]:
    """An experiment with an entry in its defaults list."""
    files = {name.replace("__", "/"): text for name, text in others.items()}
    return {"experiment/x": f"{GLOBAL}defaults:\n  - {entry}\n", **files}


HYDRA = {
    "factory of a logger": hydra("{job_logging: {handlers: {x: '${scheme.evil}'}}}"),
    "all of Hydra": hydra("${scheme}", f"scheme: {{callbacks: {{x: {MAKE}}}}}\n"),
    "callbacks": hydra(f"{{callbacks: {{x: {MAKE}}}}}"),
    "folder behind a link": hydra("{run: {dir: link}, output_subdir: .hydra}"),
    "of no value": hydra("null"),
    "header hydra": header("hydra", f"callbacks: {{x: {MAKE}}}"),
    "header in brackets": header("hydra[callbacks]", f"x: {MAKE}"),
    "default at hydra": default("/mine@hydra.callbacks: a", mine__a=f"x: {MAKE}"),
    "default in default": default(
        "/mine@_global_: a", mine__a="defaults:\n  - b@hydra.callbacks\n", mine__b=f"x: {MAKE}"
    ),
    "header of a default": default("/mine: a", mine__a=f"# @package hydra\ncallbacks: {MAKE}"),
    "choice of theirs": default(
        "override /hydra/launcher: mine", hydra__launcher__mine=f"# mine\n{MAKE}"
    ),
    "our file at hydra": default("/scheme@hydra.callbacks.x: rope"),
}

COMMAND_LINE_ONLY = {
    "code": {"experiment/x": f"{GLOBAL}plugins: [os]\nscheme: {MAKE}\n"},
    "online": {"experiment/x": f"{GLOBAL}logger: {{mode: online}}\n"},
    "logger by reference": {
        "experiment/x": f"{GLOBAL}logger: '${{scheme.x}}'\nscheme: {{x: {{mode: online}}}}\n"
    },
    "an engine": {"experiment/x": f"{GLOBAL}model: {{url: 'http://127.0.0.1:9/v1'}}\n"},
    "folder of a logger": {"experiment/x": f"{GLOBAL}logger: {{folder: CANARY}}\n"},
    "logger by its class": {
        "experiment/x": f"{GLOBAL}logger:\n  _target_: extrap.runs.dashboard.Curves\n"
        "  kind: csv\n  folder: ftp://127.0.0.1/x\n"
    },
    "folder of another group": default("/mine@logger: a", mine__a="folder: ../canary"),
    "logger of another group": default("/mine@logger: a", mine__a="mode: online"),
}

REFERENCES = {
    "environment": "label: ${oc.env:NOTHING,okay}",
    "environment inside": "label: '${scheme.${oc.env:NOTHING,base}}'",
    "a resolver that is put together": "study: oc.env\nlabel: '${${study}:NOTHING,okay}'",
    "a node that is made": f"scheme: '{CREATE}'",
    "a default": "defaults: [{override /scheme: '${oc.env:NOTHING,alibi}'}]",
    "a grid": "sweep: {grid: {label: ['${oc.env:NOTHING,okay}']}}",
}

GRIDS = {
    "logger.mode: [online]": "logger.mode: no file sets this option",
    "logger.entity: theirs": "logger.entity: no file sets this option",
    "logger.folder: [CANARY]": "logger.folder: no file sets this option",
    "plugins: [[os]]": "plugins: no file sets this option",
    "hydra.run.dir: [CANARY]": "hydra.run.dir: no file sets this option",
    "hydra/launcher@x: slurm": "hydra/launcher@x: no file sets this option",
    "sweep.grid: [1]": "sweep.grid: no file sets this option",
    "'[logger].mode': online": "[logger].mode: not an option",
    "'+logger.mode': online": "+logger.mode: not an option",
    "seed: {'()': os.mkdir}": "seed: expected a list of values or",
    "seed: [{a: b}]": "seed: {'a': 'b'} is no plain value",
    "seed: []": "seed: has no values",
    "label: ['${study}']": "label: ${study}: a grid holds values",
    "scheme: {glob: '*', exclude: rope}": "scheme: expected a list of values or",
}

NO_NAMES = ["task: [[0]]", "scheme: [[10000, 20000]]", "scheme: [null]", "extension: 3"]

WHOLE = {
    "scheme": f"scheme: {MAKE}",
    "trainer": f"trainer: {{plugins: {MAKE}}}",
    "root": "trainer: {default_root_dir: CANARY}",
    "study": "study: ../canary",
    "project": "logger: {_target_: extrap.runs.dashboard.trackio.Trackio, project: ../canary}",
    "grid that is a reference": EVIL + "sweep: {grid: '${scheme.evil}'}",
    "grid that is a text": "sweep: {grid: 'scheme=rope,alibi'}",
    "references to references": "m:\n- &a0 [x, x]\n"
    + "\n".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)),
    "a list of choices": "defaults: [{override /scheme: [rope]}]",
    "a log of Hydra's": "defaults: [{override /hydra/job_logging: default}]",
}


@pytest.fixture
def canary(tmp_path):
    path = tmp_path / "outside" / "canary"
    path.parent.mkdir()
    (tmp_path / "link").symlink_to(path.parent)
    yield path
    assert list(path.parent.iterdir()) == [], "planted code was run, or written through a link"


def plant(files: dict[str, str], canary: Path | str = "") -> None:
    for name, text in files.items():
        path = Path("theirs", f"{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("CANARY", str(canary)))


def experiment(name: str, text: str, canary: Path | str = "") -> None:
    plant({f"experiment/{name}": f"{GLOBAL}{text}\n"}, canary)


def refused(monkeypatch: pytest.MonkeyPatch, capsys, *words: str) -> list[str]:
    """Returns what the program says of its words and the files in `theirs`; it leaves nothing."""
    before = {path.name for path in Path().iterdir()}
    with pytest.raises(SystemExit, match="2"):
        typed(monkeypatch, "--config-dir", "theirs", *TINY, *words)
    assert {path.name for path in Path().iterdir()} <= before | {"runs"}
    return capsys.readouterr().err.splitlines()


def started(*words):
    """A process of its own, as a user starts it."""
    return python("-m", "extrap", "--config-dir", "theirs", *words)


@pytest.mark.parametrize("files", HYDRA.values(), ids=HYDRA)
def test_no_file_sets_anything_of_hydra(canary, files, monkeypatch, capsys):
    plant(files, canary)
    [said] = refused(monkeypatch, capsys, "experiment=x")
    file, _, rest = said.removeprefix("extrap: ").partition(": ")
    assert rest == f"sets hydra; {ONLY}" and Path(file).is_file()


@pytest.mark.parametrize("files", COMMAND_LINE_ONLY.values(), ids=COMMAND_LINE_ONLY)
def test_code_of_others_and_an_account_are_typed(canary, files, monkeypatch, capsys):
    plant(files, canary)
    [said] = refused(monkeypatch, capsys, "experiment=x")
    assert said.endswith(ONLY) and "theirs" in said


@pytest.mark.parametrize("text", REFERENCES.values(), ids=REFERENCES)
def test_a_file_refers_to_its_configuration_alone(canary, text, monkeypatch, capsys):
    experiment("x", text, canary)
    [said] = refused(monkeypatch, capsys, "experiment=x")
    assert any(line in said for line in (NOTHING_ELSE, "no reference", "no references"))
    assert os.environ["HOME"] not in said


def test_the_environment_is_in_nothing_that_is_printed(canary):
    experiment("x", "label: ${oc.env:HOME}")
    for words in (["--cfg", "job", "--resolve"], ["--info", "defaults"], ["-m", "seed=0,1"]):
        done = started("experiment=x", *words)
        assert os.environ["HOME"] not in done.stdout + done.stderr


@pytest.mark.sample(5)
@pytest.mark.parametrize(("grid", "line"), GRIDS.items(), ids=GRIDS)
def test_what_a_grid_says_is_not_typed(canary, grid, line, monkeypatch, capsys):
    experiment("x", f"sweep: {{grid: {{data: [text, retrieval], {grid}}}}}", canary)
    [said] = refused(monkeypatch, capsys, "experiment=x")
    assert said.startswith(f"extrap: sweep.grid: {line}") or "nothing else" in said


@pytest.mark.parametrize("choice", NO_NAMES)
def test_a_choice_of_a_grid_is_a_name(choice, monkeypatch, capsys):
    experiment("x", f"sweep: {{grid: {{{choice}}}}}")
    [said] = refused(monkeypatch, capsys, "experiment=x")
    assert f"{choice.partition(':')[0]} takes the name of a choice" in said


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_file_runs_nothing_and_writes_nowhere_else(canary, text, monkeypatch, capsys):
    experiment("x", text, canary)
    said = refused(monkeypatch, capsys, "experiment=x")
    assert len(said) == 1 and said[0].startswith("extrap: "), said
    assert not said[0].startswith("extrap: Multiple values"), "the file was never read"


@pytest.mark.parametrize("text", ["1.5", "true", "!!binary aGk=", "!!set {seed}", "[seed]"])
def test_a_file_that_is_no_mapping_holds_no_options(text, monkeypatch, capsys):
    experiment("x", text)
    [line] = refused(monkeypatch, capsys, "experiment=x")
    assert line.endswith("/experiment/x.yaml: holds no options; a file is of lines as in `seed: 1`")


@pytest.mark.parametrize("option", ["study", "label"])
@pytest.mark.parametrize(("name", "number"), [("2024_11_25", "20241125"), ("1e3", "1000.0")])
def test_a_name_that_yaml_reads_as_a_number_is_refused(option, name, number, monkeypatch, capsys):
    """It would name another study: 2024_11_25 becomes 20241125."""
    remedy = "YAML reads a number here, perhaps of another spelling; write it in quotes"
    experiment("x", f"{option}: {name}")
    [line] = refused(monkeypatch, capsys, "experiment=x")
    assert line.endswith(f"/experiment/x.yaml: {option}={number}: {remedy}")
    experiment("y", f"sweep: {{grid: {{{option}: [{name}]}}}}")
    [line] = refused(monkeypatch, capsys, "experiment=y")
    assert line == f"extrap: sweep.grid: {option}={number}: {remedy}"


@pytest.mark.parametrize("key", ["1", "true", "1.5", "2001-01-01"])
def test_a_number_is_no_name_of_an_option(key, monkeypatch, capsys):
    plant({"scheme/mine": f"# mine\n_target_: extrap.schemes.alibi.ALiBi\n{key}: 2\n"})
    [line] = refused(monkeypatch, capsys, "scheme=mine")
    assert "names no option" in line or "no such option" in line


def test_a_link_to_no_file_is_named(capsys):
    from extrap.cli.audit import main as audit

    Path("theirs/scheme").mkdir(parents=True)
    Path("theirs/scheme/mine.yaml").symlink_to("nowhere")
    with pytest.raises(SystemExit, match="2"):
        audit(["--config-dir", "theirs", "mine"])
    assert "mine.yaml: a link to a file that is not there" in capsys.readouterr().err


def test_files_that_only_jobs_of_a_sweep_read_are_checked_too(canary, monkeypatch, capsys):
    experiment("fine", "seed: 1")
    plant({"experiment/callbacks": HYDRA["callbacks"]["experiment/x"]}, canary)
    experiment("secret", REFERENCES["environment"])
    experiment("large", WHOLE["references to references"])
    said = refused(monkeypatch, capsys, "-m", "experiment=fine,callbacks,secret,large")
    assert said[0].endswith(f"callbacks.yaml: sets hydra; {ONLY}")
    assert said[1] == f"extrap: label: a reference to oc.env; {NOTHING_ELSE}"
    assert "large.yaml: more than 100,000 values" in said[2]


@pytest.mark.parametrize("flag", ["path", "name"])
def test_the_program_starts_from_its_own_configuration(flag, monkeypatch, capsys):
    Path("theirs").mkdir()
    [line] = refused(monkeypatch, capsys, f"--config-{flag}", "theirs")
    assert line == (
        f"extrap: --config-{flag}=theirs: extrap does not take this flag of Hydra; put choices and "
        "experiments in a folder and give --config-dir"
    )


def test_a_typed_option_of_hydra_is_no_reference_into_files(monkeypatch, capsys):
    Path("theirs").mkdir()
    [line] = refused(monkeypatch, capsys, "hydra.job_logging.handlers={x: '${scheme}'}")
    assert line.endswith("takes no reference to options outside hydra; give the value itself")


FOLDERS = {
    "ftp://{}/x": "an address; give a folder of this machine",
    "http://{}": "an address; give a folder of this machine",
    "simplecache::http://{}": "an address; give a folder of this machine",
    "": "needs a name",
}


@pytest.mark.parametrize(("folder", "problem"), FOLDERS.items())
def test_a_logger_writes_to_this_machine(folder, problem, listener, monkeypatch, capsys):
    address, heard = listener
    Path("theirs").mkdir()
    typed_folder = folder.format(address.removeprefix("http://"))
    [line] = refused(monkeypatch, capsys, "logger=csv", f"logger.folder={typed_folder}")
    assert line == f"extrap: logger.folder={typed_folder}: {problem}" and heard == []


def test_hydras_habits_stay():
    """A file may choose a launcher of extrap, refer to its options and the time. Habits of the
    command line: tests/cli/test_commands.py.
    """
    experiment(
        "x",
        "defaults: [{override /hydra/launcher: local}, {override /scheme: alibi}]\n"
        "study: '${scheme._target_}'\nlabel: 'at-${now:%Y}-${hydra:job.name}'\n"
        "sweep: {jobs: 2, grid: [{seed: [0, 1]}, {scheme: {glob: 'ro*', exclude: [rope]}}]}",
    )
    plant({"scheme/mine": "_target_: extrap.schemes.rope.RoPE\nbase: 5.0\n"})
    shown = started("experiment=x", "scheme=mine", "+task.kv.more=1", "~task.nll", "--cfg", "job")
    assert shown.returncode == 0, shown.stderr
    assert "base: 5.0" in shown.stdout and "more: 1" in shown.stdout and "jobs: 2" in shown.stdout


def test_a_file_chooses_a_launcher_of_ours():
    experiment("x", "defaults: [{override /hydra/launcher: slurm}]")
    for words, launcher in (([], "SlurmLauncher"), (["hydra/launcher=local"], "LocalLauncher")):
        done = started("experiment=x", *words, "--cfg", "hydra", "-p", "hydra.launcher")
        assert f".{launcher}\n" in done.stdout, done.stderr


def test_a_reference_where_options_belong_names_the_file(monkeypatch, capsys):
    experiment("x", "train: ${task}")
    [line] = refused(monkeypatch, capsys, "experiment=x")
    assert line.startswith("extrap: experiment/x.yaml: ${task} where options belong; ")
