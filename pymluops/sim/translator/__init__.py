"""Translates BANG C into C++ that a host compiler reads.

    python -m translator SOURCE --output FILE [--name NAME]

Kernel launches, variables in the memories of a core, inline assembly and doubled `inline` get the
forms that mlusim_source.h describes; everything else stays as it is, on its line. Messages are
`NAME:LINE: text`, the exit code is then 1.

The text is cut into tokens once, which takes strings, comments and raw strings out of the way. A
walk over the tokens keeps track of brackets, and so of the kind of each brace: a namespace, a class
or a function. The body of a macro is walked like a file of its own; whether its declarations stand
at file scope or in a function depends on its uses.

The build runs this package before the package around it exists: it imports nothing but the standard
library.
"""

from .names import PREFIX
from .text import TranslationError
from .translation import translate

__all__ = ["PREFIX", "TranslationError", "translate"]
