"""Lets these tests import their neighbours under pytest, as `unittest discover` lets them."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
