"""The parts of the wheel that depend on the program in ``siwa_dev/bin``, which scripts/package-wheel puts there."""

import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class ProgramDistribution(Distribution):
    """A wheel with a program belongs to one architecture, although it has no extension module."""

    def has_ext_modules(self) -> bool:
        return True


class ProgramWheel(bdist_wheel):
    """The program does not depend on the version of Python."""

    def get_tag(self) -> "tuple[str, str, str]":
        return ("py3", "none", super().get_tag()[2])


# The first word, because the commit of the build can follow.
version = subprocess.run(["siwa_dev/bin/siwa-dev", "--version"], stdout=subprocess.PIPE, check=True).stdout.split()[0]
setup(
    version=version.decode(),
    distclass=ProgramDistribution,
    cmdclass={"bdist_wheel": ProgramWheel},
    # auditwheel writes the wheel once more, and compresses it then.
    options={"bdist_wheel": {"compression": "stored"}},
)
