"""What all tests begin with."""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts the tests in the background has it ignored
