"""Chromium, for tests of pages. POISE_CHROMIUM names it; without it, or without playwright, those tests are skipped."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FLAGS = [
    "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
SIZE = (960, 640)  # small: a processor draws it


@contextlib.contextmanager
def open_browser(**context: Any) -> Iterator[Any]:
    """A fresh page of Chromium; the test is skipped, with a reason, where there is none."""
    chromium = os.environ.get("POISE_CHROMIUM")
    if not chromium:
        pytest.skip("no browser: set POISE_CHROMIUM to Chromium's program")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            shape = {"width": SIZE[0], "height": SIZE[1]}
            yield browser.new_context(viewport=shape, **context).new_page()
        finally:
            browser.close()


@contextlib.contextmanager
def run_poise(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`poise` in a process of its own that prints one line of JSON or more; it and what it printed first."""
    command = [sys.executable, "-m", "poise", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("}"):
                break
        try:
            yield process, "".join(lines)
        finally:
            process.kill()


def project(point: Any, camera: Any, fov: float, width: float, height: float) -> tuple[float, float]:
    """Where a point of the world is on a canvas, px."""
    position, target = (np.array(each, float) for each in camera)
    ahead = (target - position) / np.linalg.norm(target - position)
    right = np.cross(ahead, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    way = np.asarray(point, float) - position
    scale = 0.5 * height / np.tan(0.5 * fov) / (way @ ahead)
    return float(0.5 * width + scale * (way @ right)), float(0.5 * height - scale * (way @ up))


def save_picture(page: Any, name: str) -> None:
    """A picture of the page, where somebody looks at them: POISE_SHOTS is a folder."""
    folder = os.environ.get("POISE_SHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"))
