"""Each loader of a library that could run code of a checkpoint or a data set is called in one place
of extrap, which says that it may not.
"""

import ast
from pathlib import Path

import extrap

PACKAGE = Path(extrap.__file__).parent
PLACES = {
    "from_pretrained": "pretrained/loading.py",
    "load_dataset": "data/corpora/reader.py",
    "load_dataset_builder": "data/corpora/reader.py",
}
"""{loader: the file that calls it}."""

NOWHERE = {"pipeline", "get_class_from_dynamic_module", "load_custom_generate", "hub_kernel"}


def used(path: Path) -> set[str]:
    """Returns the names, attributes and imports of a file."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    imports = {node.name for node in nodes if isinstance(node, ast.alias)}
    return names | attributes | imports


def test_a_loader_is_called_in_one_place():
    files = {path.relative_to(PACKAGE).as_posix(): used(path) for path in PACKAGE.rglob("*.py")}
    for loader, place in PLACES.items():
        assert {name for name, found in files.items() if loader in found} <= {place}
    assert {name for name, found in files.items() if found & NOWHERE} == set()


def test_the_one_place_says_no():
    tree = ast.parse((PACKAGE / PLACES["from_pretrained"]).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [call for call in calls if getattr(call.func, "attr", "") == "from_pretrained"]
    for call in calls:
        given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        assert given["trust_remote_code"] is False and given["local_files_only"] is True
    assert len(calls) == 1
