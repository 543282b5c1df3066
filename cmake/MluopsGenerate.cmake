# Files generated from include/mlu_op.h and include/mluops_ext.h, the only declaration of the ABI.

find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
set(MLUOPS_HEADERS
  "${CMAKE_CURRENT_SOURCE_DIR}/native/include/mlu_op.h" "${CMAKE_CURRENT_SOURCE_DIR}/native/include/mluops_ext.h")
file(GLOB MLUOPS_HEADER_PARTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/native/include/mluops_ext/*.h")
set(MLUOPS_GENERATOR "${CMAKE_CURRENT_SOURCE_DIR}/native/abi/generate.py")
file(GLOB MLUOPS_GENERATOR_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/native/abi/*.py")
list(APPEND MLUOPS_GENERATOR_SOURCES "${CMAKE_CURRENT_SOURCE_DIR}/pymluops/gencase/_operators.py")

# The functions that a library for a device exports in addition to that ABI.
set(MLUOPS_DEVICE_HEADERS
  "${CMAKE_CURRENT_SOURCE_DIR}/native/sim/include/cnrt.h" "${CMAKE_CURRENT_SOURCE_DIR}/native/sim/include/mlusim.h"
  "${CMAKE_CURRENT_SOURCE_DIR}/native/sim/include/mlusim_profile.h")

# mluops_generate([--exports FILE] [--entries FILE] [--null-calls FILE] [--calls FILE] [--cffi FILE] [--cython FILE]
#                 [--double-entries FILE --families FOLDER] [--case-entries FILE] [HEADERS FILE...] [DEPENDS FILE...])
# adds a rule that generates these files with abi/generate.py from the headers above and the additional HEADERS.
function(mluops_generate)
  cmake_parse_arguments(PARSE_ARGV 0 generate "" "--families" "HEADERS;DEPENDS")
  set(headers ${MLUOPS_HEADERS} ${generate_HEADERS})
  set(families)
  if(generate_--families)
    set(families --families "${generate_--families}")
  endif()
  set(outputs ${generate_UNPARSED_ARGUMENTS})
  list(FILTER outputs EXCLUDE REGEX "^--")
  set(names ${outputs})
  list(TRANSFORM names REPLACE ".*/" "")
  list(JOIN names ", " names)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND Python::Interpreter "${MLUOPS_GENERATOR}" --header ${headers} ${generate_UNPARSED_ARGUMENTS} ${families}
    DEPENDS ${headers} ${MLUOPS_HEADER_PARTS} ${MLUOPS_GENERATOR_SOURCES} ${generate_DEPENDS}
    COMMENT "Generating ${names}"
    VERBATIM)
endfunction()
