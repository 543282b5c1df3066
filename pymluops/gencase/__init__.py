"""Test cases as the vendor's library dumps them: read, written, run and compared.

`read` reads a file; `Case.run` runs it on any library with this ABI. `recording` lets a library
write a case of each call. On the command line: ``pymluops case``. docs/cases.md is a tutorial.
"""

from pymluops.gencase._file import CaseError, CaseTensor
from pymluops.gencase._recording import recording
from pymluops.gencase.case import Case, read
from pymluops.gencase.result import Judgement, Outcome, OutputResult, Result

__all__ = ["Case", "CaseError", "CaseTensor", "Judgement", "Outcome", "OutputResult", "Result", "read", "recording"]
