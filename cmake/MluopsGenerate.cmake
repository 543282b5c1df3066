# Files generated from include/mluops.h, the only declaration of the ABI.

find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
set(MLUOPS_HEADER "${CMAKE_CURRENT_SOURCE_DIR}/native/include/mluops.h")
set(MLUOPS_GENERATOR "${CMAKE_CURRENT_SOURCE_DIR}/native/abi/generate.py")

# mluops_generate(--exports FILE [--cffi FILE] [--cython FILE]): a rule that makes these files with abi/generate.py.
function(mluops_generate)
  set(outputs ${ARGN})
  list(FILTER outputs EXCLUDE REGEX "^--")
  set(names ${outputs})
  list(TRANSFORM names REPLACE ".*/" "")
  list(JOIN names ", " names)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND Python::Interpreter "${MLUOPS_GENERATOR}" --header "${MLUOPS_HEADER}" ${ARGN}
    DEPENDS "${MLUOPS_HEADER}" "${MLUOPS_GENERATOR}"
    COMMENT "Generating ${names} from mluops.h"
    VERBATIM)
endfunction()
