# SPDX-License-Identifier: GPL-2.0-or-later
"""What was done meanwhile, and by whom: processor time by process, and requests to the API server."""
import contextlib
import dataclasses

from api_requests import api_requests
from processor_time import processor_time


def _most(numbers, form):
    names = sorted(numbers, key=numbers.get, reverse=True)[:12]
    return ", ".join(f"{name} {numbers[name]:{form}}" for name in names)


@dataclasses.dataclass
class Work:
    processors: dict = dataclasses.field(default_factory=dict)  # {process: seconds}
    requests: dict = dataclasses.field(default_factory=dict)    # {"VERB resource": number}

    @contextlib.contextmanager
    def measured(self, api):
        """Adds what is done meanwhile."""
        with api_requests(api, self.requests), processor_time(self.processors):
            yield

    def report(self, what):
        print(f"{what}: seconds of processors {sum(self.processors.values()):.1f}: {_most(self.processors, '.2f')}")
        print(f"{what}: requests {sum(self.requests.values())}: {_most(self.requests, 'd')}", flush=True)
