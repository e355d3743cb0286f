"""A disk for tests that fills up, or takes no writes at all."""

import shutil
import subprocess

import pytest


class Mounted:
    """A small file system of its own; skips visibly where this user may not mount one."""

    def __init__(self, place, options):
        self.place, self.options = place, options

    def __enter__(self):
        self.place.mkdir()
        mount = shutil.which("mount")
        done = mount and subprocess.run(
            [mount, "-t", "tmpfs", "-o", self.options, "tmpfs", str(self.place)],
            capture_output=True,
            check=False,
        )
        if not done or done.returncode:
            pytest.skip("this user may not mount a file system")
        return self.place

    def __exit__(self, *error):
        subprocess.run(["umount", str(self.place)], check=True, capture_output=True)
