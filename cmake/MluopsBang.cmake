# libmluops_bang: the C ABI of include/mlu_op.h with the BANG C kernels of ops/<family>/bang.mlu, compiled for a card with the
# vendor's compiler.
#
# UNTESTED: neither the compiler nor a card was available. The simulator runs the same sources.

set(MLUOPS_NEUWARE "$ENV{NEUWARE_HOME}" CACHE PATH "Where the vendor's toolkit is installed")
find_program(MLUOPS_CNCC cncc HINTS "${MLUOPS_NEUWARE}/bin" NO_CACHE)
if(NOT MLUOPS_CNCC)
  message(FATAL_ERROR "MLUOPS_TARGETS: mlu needs the vendor's BANG C compiler cncc, looked for in NEUWARE_HOME/bin "
                      "(NEUWARE_HOME is '${MLUOPS_NEUWARE}') and on PATH, and it is not there")
endif()
message(WARNING "MLUOPS_TARGETS: mlu has never been compiled or run by the authors, who have no compiler and no card for it")

# Those of the cards that the vendor's newer compilers still know.
mlusim_toolchain(archs --archs)
list(FILTER archs EXCLUDE REGEX "^2")
list(TRANSFORM archs PREPEND "mtp_")
set(MLUOPS_BANG_ARCHS "${archs}" CACHE STRING "Architectures for the vendor's compiler, a list such as mtp_372;mtp_592")
set(options)
foreach(arch IN LISTS MLUOPS_BANG_ARCHS)
  list(APPEND options "--bang-mlu-arch=${arch}")
endforeach()

set(objects)
foreach(family IN LISTS MLUOPS_BANG_FAMILIES)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/ops/${family}/bang.mlu")
  set(object "${CMAKE_CURRENT_BINARY_DIR}/bang/${family}.o")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bang")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND "${MLUOPS_CNCC}" -c "${source}" -o "${object}" -std=c++17 -O3 -fPIC -fvisibility=hidden ${options}
            "-I${CMAKE_CURRENT_SOURCE_DIR}" "-I${CMAKE_CURRENT_SOURCE_DIR}/include" "-I${MLUOPS_NEUWARE}/include"
    DEPENDS "${source}"
    COMMENT "Compiling ${family}/bang.mlu with the vendor's compiler"
    VERBATIM)
  list(APPEND objects "${object}")
endforeach()

add_library(mluops_bang SHARED ${MLUOPS_BANG_SOURCES} bang/policy.cpp bang/target.cpp ${objects}
  ${MLUOPS_ENTRY_OBJECTS})
mluops_compile_options(mluops_bang)
add_dependencies(mluops_bang mluops_exports)
target_compile_definitions(mluops_bang PRIVATE MLUOPS_LIBRARY_VERSION="${PROJECT_VERSION}" MLUOPS_BANG_KIND="mlu")
target_include_directories(mluops_bang PRIVATE include . "${MLUOPS_NEUWARE}/include")
target_link_directories(mluops_bang PRIVATE "${MLUOPS_NEUWARE}/lib64")
target_link_libraries(mluops_bang PRIVATE cnrt)
target_link_options(mluops_bang PRIVATE "LINKER:--version-script=${MLUOPS_EXPORTS}" LINKER:-Bsymbolic-functions LINKER:-z,now LINKER:--no-undefined)
