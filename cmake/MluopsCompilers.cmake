# Says in one sentence that there is no compiler; `project` would take a page for it.

function(mluops_need_compiler language variable)
  if(DEFINED "CMAKE_${language}_COMPILER" OR DEFINED CMAKE_TOOLCHAIN_FILE OR NOT "$ENV{${variable}}" STREQUAL "")
    return() # CMake says what is wrong with a compiler that was named
  endif()
  find_program(mluops_compiler NAMES ${ARGN})
  set(found "${mluops_compiler}")
  unset(mluops_compiler CACHE)
  if(NOT found)
    list(JOIN ARGN ", " names)
    string(REPLACE "XX" "++" called "${language}")
    message(FATAL_ERROR "pymluops: there is no ${called} compiler: PATH has none of ${names}; install one (Debian and Ubuntu: "
                        "apt install g++; Fedora: dnf install gcc-c++) or name it in ${variable}. The extra [compiler] compiles kernels, "
                        "after the installation.")
  endif()
endfunction()

mluops_need_compiler(CXX CXX c++ g++ clang++ icpx)
mluops_need_compiler(C CC cc gcc clang icx)
