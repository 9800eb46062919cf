"""What servers of models do: each behaviour has a name. tests/model_server.py plays them."""
from . import answers, broken, refusals  # noqa: F401: each adds its own
