# Finds the compiler of BANG C, for scripts that say find_package(BANG).
#
# NEUWARE_HOME, as a variable of CMake or of the environment, is the root of the toolkit; `bangcc --print-neuware` prints
# one for the simulated MLU. Defined are
#
#   BANG_FOUND, BANG_CNCC_EXECUTABLE, BANG_INCLUDE_DIRS, BANG_LIBRARIES (the runtime and the driver)
#   bang_add_library(TARGET [STATIC|SHARED|MODULE] [EXCLUDE_FROM_ALL] SOURCE...)
#   bang_add_executable(TARGET [EXCLUDE_FROM_ALL] SOURCE...)
#   bang_compile(OBJECTS SOURCE...)
#   bang_include_directories(FOLDER...)
#
# BANG_CNCC_FLAGS has further options for sources in BANG C, as a text or a list. These sources see the include folders
# and macros of their target.

if(NOT NEUWARE_HOME)
  set(NEUWARE_HOME "$ENV{NEUWARE_HOME}")
endif()
if(NOT NEUWARE_HOME)
  # This file lies in cmake/modules of the root.
  get_filename_component(NEUWARE_HOME "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
endif()

find_program(BANG_CNCC_EXECUTABLE NAMES cncc PATHS "${NEUWARE_HOME}/bin" NO_DEFAULT_PATH)
find_program(BANG_CNCC_EXECUTABLE NAMES cncc bangcc)
find_path(BANG_INCLUDE_DIRS NAMES cnrt.h PATHS "${NEUWARE_HOME}/include" NO_DEFAULT_PATH)
find_library(BANG_CNRT_LIBRARY NAMES cnrt PATHS "${NEUWARE_HOME}/lib64" NO_DEFAULT_PATH)
find_library(BANG_CNDRV_LIBRARY NAMES cndrv PATHS "${NEUWARE_HOME}/lib64" NO_DEFAULT_PATH)
mark_as_advanced(BANG_CNCC_EXECUTABLE BANG_INCLUDE_DIRS BANG_CNRT_LIBRARY BANG_CNDRV_LIBRARY)
set(BANG_LIBRARIES "${BANG_CNRT_LIBRARY}" "${BANG_CNDRV_LIBRARY}")

set(BANG_CNCC_VERSION "")
if(BANG_CNCC_EXECUTABLE)
  execute_process(COMMAND "${BANG_CNCC_EXECUTABLE}" --version OUTPUT_VARIABLE bang_version ERROR_QUIET)
  if(bang_version MATCHES "v([0-9]+\\.[0-9]+\\.[0-9]+)")
    set(BANG_CNCC_VERSION "${CMAKE_MATCH_1}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BANG
  REQUIRED_VARS BANG_CNCC_EXECUTABLE BANG_INCLUDE_DIRS BANG_CNRT_LIBRARY VERSION_VAR BANG_CNCC_VERSION)

# Adds a rule for each source in BANG C, and sets `objects` to their object files and `rest` to the other sources. If a target is
# named, its include folders and macros are passed on.
function(_bang_rules objects rest target)
  set(found)
  set(others)
  set(flags ${BANG_CNCC_FLAGS})
  list(JOIN flags " " flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  get_property(folders DIRECTORY PROPERTY BANG_INCLUDE_FOLDERS)
  list(TRANSFORM folders PREPEND "-I")
  set(of_target)
  if(target)
    set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(macros "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
    set(of_target "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>" "$<$<BOOL:${macros}>:-D$<JOIN:${macros},$<SEMICOLON>-D>>")
  endif()
  foreach(source IN LISTS ARGN)
    if(NOT source MATCHES "\\.mlu$")
      list(APPEND others "${source}")
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE)
    file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${path}")
    string(REGEX REPLACE "[^A-Za-z0-9_./-]|\\.\\./" "_" name "${name}")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/bang.dir/${target}/${name}.o")
    get_filename_component(folder "${object}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${BANG_CNCC_EXECUTABLE}" -c "${path}" -o "${object}" -fPIC ${flags} ${folders} ${of_target}
              -MMD -MF "${object}.d" -MT "${object}"
      DEPENDS "${path}"
      DEPFILE "${object}.d"
      COMMENT "Building BANG C object ${name}.o"
      COMMAND_EXPAND_LISTS
      VERBATIM)
    list(APPEND found "${object}")
  endforeach()
  set_source_files_properties(${found} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${objects} "${found}" PARENT_SCOPE)
  set(${rest} "${others}" PARENT_SCOPE)
endfunction()

macro(bang_include_directories)
  foreach(folder IN ITEMS ${ARGN})
    get_filename_component(folder "${folder}" ABSOLUTE)
    set_property(DIRECTORY APPEND PROPERTY BANG_INCLUDE_FOLDERS "${folder}")
  endforeach()
endmacro()

function(bang_compile objects)
  _bang_rules(found rest "" ${ARGN})
  set(${objects} "${found}" PARENT_SCOPE)
endfunction()

# Splits the words that add_library and add_executable know from the sources.
macro(_bang_target kinds)
  set(kind)
  set(sources)
  foreach(word IN ITEMS ${ARGN})
    if(word MATCHES "^(${kinds})$")
      list(APPEND kind "${word}")
    else()
      list(APPEND sources "${word}")
    endif()
  endforeach()
endmacro()

function(bang_add_library target)
  _bang_target("STATIC|SHARED|MODULE|EXCLUDE_FROM_ALL" ${ARGN})
  _bang_rules(objects rest "${target}" ${sources})
  add_library(${target} ${kind} ${objects} ${rest})
  _bang_finish(${target})
endfunction()

function(bang_add_executable target)
  _bang_target("EXCLUDE_FROM_ALL" ${ARGN})
  _bang_rules(objects rest "${target}" ${sources})
  add_executable(${target} ${kind} ${objects} ${rest})
  _bang_finish(${target})
endfunction()

function(_bang_finish target)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE "${BANG_INCLUDE_DIRS}")
  target_link_libraries(${target} ${BANG_LIBRARIES})
endfunction()
