"""The guides show code that runs: whole files of docs/guides as they are, and examples that are run here."""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path

import pytest

import poise
from helpers.guides import GUIDES, load_guide
from poise.files.registry import FORMATS
from poise.jobs.job import parse_recipe
from poise.jobs.mix import job as mix_job
from poise.jobs.mix.job import MixOptions
from poise.motion import samples

PAGES = sorted(GUIDES.glob("*.md"))
FILES = {path.name: path.read_text(encoding="utf-8") for path in GUIDES.glob("*.py")}


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def is_file(block: str) -> bool:
    return block.startswith('"""')


def test_every_file_is_shown_and_as_it_is() -> None:
    shown = [block for page in PAGES for block in blocks(page, "python") if is_file(block)]
    assert sorted(shown) == sorted(FILES.values())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_guide(page.stem)
    before = list(FORMATS)
    monkeypatch.chdir(tmp_path)
    module = load_guide("own_format")
    poise.extend.register_format("Steps", ".steps", module.read_steps, module.save_steps)
    poise.save_clip(samples.walk(poise.Character.human(preset="mix").skeleton, fps=25).pick(slice(0, 8)), "walk.bvh")
    examples = [block for block in blocks(page, "python") if not is_file(block)]
    try:
        for example in examples:
            exec(compile(example, page.name, "exec"), {})
        assert examples
    finally:
        FORMATS[:] = before


def test_its_recipe_is_one(tmp_path: Path) -> None:
    load_guide("own_driver")
    recipe, *_ = blocks(GUIDES / "own_driver.md", "toml")
    drive = parse_recipe(MixOptions, tomllib.loads(recipe), tmp_path).values["drives"][0]
    assert drive.part == "rightArm" and drive.build() == load_guide("own_driver").Wave(bpm=90)


def recipe_of(page: str) -> str:
    """The recipe that the guide to drivers, or the module of recipes, shows."""
    if page == "guide":
        return blocks(GUIDES / "own_driver.md", "toml")[0]
    lines = (mix_job.__doc__ or "").splitlines()
    return textwrap.dedent("\n".join(line for line in lines if line.startswith("    ") or not line))


@pytest.mark.parametrize(
    ("page", "added"),
    [
        ("guide", "[drivers]\nphysical = []\n"),
        ("guide", ""),
        ("module", ""),
    ],
)
@pytest.mark.many(1)
def test_a_recipe_that_is_shown_runs(page: str, added: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_guide("own_driver")
    monkeypatch.chdir(tmp_path)
    text = recipe_of(page)
    Path("shown.toml").write_text(text + added)
    Path("room.toml").write_text("[ground]\nfriction = 0.8\n")
    skeleton = poise.Character.human(preset="mix").skeleton
    for table in (tomllib.loads(text)["character"], *tomllib.loads(text).get("from", [])):
        poise.save_clip(samples.wave(skeleton, 2.4, fps=25), table["clip"])
    found = poise.mix(recipe="shown.toml")
    assert found.broken is None and [path.is_file() for path in found.files] == [True]
    drive = tomllib.loads(text)["drives"][0]["part"]
    hand = skeleton.index(drive.replace("Arm", "Hand"))
    assert hand in found.physical


def test_its_plugin_names_the_group_that_is_looked_for() -> None:
    from poise.registry import PLUGINS

    plugin, *_ = blocks(GUIDES / "own_format.md", "toml")
    assert tomllib.loads(plugin)["project"]["entry-points"][PLUGINS] == {"steps": "own_format"}


def test_the_words_of_its_table_are_the_abilities() -> None:
    text = (GUIDES / "own_engine.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(poise.extend.Capabilities.__dataclass_fields__)
