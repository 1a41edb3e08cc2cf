"""Scenarios as objects: :class:`Scenario`, and a class for each table of a scenario file.

The classes are generated from the schema. ``from_`` is the key ``from``, and each ``kind`` is a class of that name, as
in ``Swap(mode="slots", gap=Gap(exponential="1 s"))``.
"""

from ackclock.scenario import background, dumbbell, elements, flows, links, settings
from ackclock.scenario.background import *  # noqa: F403 - its __all__ is listed below
from ackclock.scenario.dumbbell import *  # noqa: F403
from ackclock.scenario.elements import *  # noqa: F403
from ackclock.scenario.flows import *  # noqa: F403
from ackclock.scenario.links import *  # noqa: F403
from ackclock.scenario.part import Part
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.settings import *  # noqa: F403

__all__ = ["Part", "Scenario"]
__all__ += background.__all__
__all__ += dumbbell.__all__
__all__ += elements.__all__
__all__ += flows.__all__
__all__ += links.__all__
__all__ += settings.__all__
