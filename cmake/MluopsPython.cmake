# The inside of a wheel: the generated cffi module, the Cython extension and the library, all in the package's folder.

if(CMAKE_VERSION VERSION_LESS 3.26)
  message(FATAL_ERROR "MLUOPS_BUILD_PYTHON needs CMake 3.26 or newer (stable Python ABI), found ${CMAKE_VERSION}")
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.SABIModule NumPy)

set(MLUOPS_CFFI "${CMAKE_CURRENT_BINARY_DIR}/_abi.py")
set(MLUOPS_TABLE "${CMAKE_CURRENT_BINARY_DIR}/_table.pxi")
set(MLUOPS_PYX "${CMAKE_CURRENT_SOURCE_DIR}/pymluops/_core/_core.pyx")
set(MLUOPS_CORE_C "${CMAKE_CURRENT_BINARY_DIR}/_core.c")
mluops_generate(--cffi "${MLUOPS_CFFI}" --cython "${MLUOPS_TABLE}" HEADERS ${MLUOPS_DEVICE_HEADERS})
add_custom_command(
  OUTPUT "${MLUOPS_CORE_C}"
  COMMAND Python::Interpreter -m cython -3 --depfile --module-name pymluops._core -I "${CMAKE_CURRENT_BINARY_DIR}"
          --output-file "${MLUOPS_CORE_C}" "${MLUOPS_PYX}"
  DEPENDS "${MLUOPS_PYX}" "${MLUOPS_TABLE}"
  DEPFILE "${MLUOPS_CORE_C}.dep"
  COMMENT "Compiling _core.pyx to C"
  VERBATIM)

# USE_SABI: one extension for every Python from 3.11 on.
python_add_library(mluops_core_module MODULE WITH_SOABI USE_SABI 3.11 "${MLUOPS_CORE_C}")
set_target_properties(mluops_core_module PROPERTIES OUTPUT_NAME _core C_VISIBILITY_PRESET hidden)
# A copy, since each build environment of pip has another folder, which the compiler cache would take for other headers.
file(COPY ${Python_NumPy_INCLUDE_DIRS}/ DESTINATION "${CMAKE_CURRENT_BINARY_DIR}/numpy")
target_include_directories(mluops_core_module PRIVATE native/include native/sim/include "${CMAKE_CURRENT_BINARY_DIR}/numpy")

install(TARGETS mluops_cpu LIBRARY DESTINATION pymluops)
if("sim" IN_LIST MLUOPS_TARGETS)
  # Includes the headers with which pymluops.sim.toolchain compiles kernels.
  install(TARGETS mlusim mlusim_cnnl mluops_sim LIBRARY DESTINATION pymluops)
  install(DIRECTORY native/sim/include/ native/include/ native/workbench/include/ DESTINATION pymluops/_sim/include FILES_MATCHING PATTERN "*.h")
  # What `pymluops examples` copies: kernels, and the pages about them and about what --help names.
  install(DIRECTORY examples/kernels examples/programs examples/puzzles examples/tutorial DESTINATION pymluops/_share/examples
          FILES_MATCHING PATTERN "*.mlu" PATTERN "*.md" PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
  install(FILES examples/workbench.ipynb DESTINATION pymluops/_share/examples)
  # docs/index.md and docs/generated are of the web site alone.
  install(DIRECTORY docs DESTINATION pymluops/_share
          FILES_MATCHING PATTERN "*.md" PATTERN "index.md" EXCLUDE PATTERN "generated" EXCLUDE)
endif()
install(TARGETS mluops_core_module LIBRARY DESTINATION pymluops)
install(FILES "${MLUOPS_CFFI}" DESTINATION pymluops)
