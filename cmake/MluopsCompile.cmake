# Compile options shared by every native target, and the instruction levels that kernels are compiled for.

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

check_cxx_compiler_flag(-mno-mmx MLUOPS_HAS_MMX)

# Gives `target` the language level, warnings and code generation options of this project.
function(mluops_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_17)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic
    # Results are bit-identical on every level: the compiler must not contract a * b + c to a fused multiply-add.
    -ffp-contract=off
    -fno-math-errno
    # A compiler may copy 8 bytes by a register of MMX, after which the x87 unit, which has long double, computes NaN.
    $<$<BOOL:${MLUOPS_HAS_MMX}>:-mno-mmx>
    $<$<BOOL:${MLUOPS_WERROR}>:-Werror>)
  # Two of our libraries in one process must not share the static variables of inline functions.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
  if(MLUOPS_SANITIZE)
    if(MLUOPS_SANITIZE STREQUAL "thread")
      set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
    else()
      # Without enum: a C caller may pass any number as an enumerator, and the library reads it to check it.
      set(sanitize -fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer)
    endif()
    target_compile_options(${target} PRIVATE ${sanitize})
    target_link_options(${target} PRIVATE ${sanitize})
  endif()
endfunction()

# What loops over many elements are compiled with in every build type, but for tests with sanitizers.
set(MLUOPS_FASTEST -O3)
if(MLUOPS_SANITIZE)
  set(MLUOPS_FASTEST "")
endif()

# A compiler cache finds a source again by what the preprocessor makes of it, which it does not get where a header is precompiled.
if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
  set(MLUOPS_PRECOMPILE_BY_DEFAULT OFF)
else()
  set(MLUOPS_PRECOMPILE_BY_DEFAULT ON)
endif()
option(MLUOPS_PRECOMPILE "Parse the headers that many sources include once a target" ${MLUOPS_PRECOMPILE_BY_DEFAULT})

# mluops_precompile(target header...): the C++ sources of `target` begin with these headers, which are parsed once. All of them
# have the options of the target, since a precompiled header goes with the options that it was made with.
function(mluops_precompile target)
  if(MLUOPS_PRECOMPILE)
    set(headers ${ARGN})
    list(TRANSFORM headers REPLACE "^([^<].*)$" "<\\1>")
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()

# Sets `result` to the levels this compiler can produce; `baseline` alone where the machine is not x86-64.
function(mluops_instruction_levels result)
  set(levels baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    check_cxx_compiler_flag(-march=x86-64-v4 MLUOPS_COMPILER_HAS_X86_64_LEVELS)
    if(MLUOPS_COMPILER_HAS_X86_64_LEVELS)
      list(APPEND levels x86_64_v3 x86_64_v4)
    else()
      message(WARNING "This compiler does not know -march=x86-64-v3 (GCC 11 and Clang 12 do): baseline kernels only")
    endif()
  endif()
  set(${result} ${levels} PARENT_SCOPE)
endfunction()

# Sets `result` to the compiler option of one level.
function(mluops_level_option level result)
  set(option "")
  if(level MATCHES "^x86_64_v")
    string(REPLACE "_v" "-v" option "-march=${level}")
    string(REPLACE "x86_64" "x86-64" option "${option}")
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(option -march=x86-64)
  endif()
  set(${result} ${option} PARENT_SCOPE)
endfunction()

# mlusim_toolchain(result argument...): sets `result` to the output of the Python package's toolchain.py, which has the
# compiler options of BANG C kernels and the figures of the cards.
function(mlusim_toolchain result)
  set(folder "${PROJECT_SOURCE_DIR}/pymluops/sim")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/toolchain.py" "${folder}/cards.toml")
  execute_process(
    COMMAND "${Python_EXECUTABLE}" "${folder}/toolchain.py" ${ARGN}
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

# mlusim_kernel_options(target arch): gives `target` the options that compile BANG C kernels for the simulator.
function(mlusim_kernel_options target arch)
  # Line tables name files by their path in the repository, wherever they are compiled.
  mlusim_toolchain(options --flags ${arch} --compiler-id "${CMAKE_CXX_COMPILER_ID}"
    --strip "${PROJECT_BINARY_DIR}" --strip "${PROJECT_SOURCE_DIR}")
  if(MLUOPS_PRECOMPILE)
    # Only the first header that the options include can be precompiled. This one stays the first of all.
    list(REMOVE_ITEM options "SHELL:-include mlusim/process.h")
    mluops_precompile(${target} mlusim/process.h core/handle.h core/reason.h bang/policy.h bang.h)
  endif()
  # Nor do they name the build folder, in which the compiler runs; of two options that fit, the later one counts.
  target_compile_options(${target} PRIVATE "-ffile-prefix-map=${PROJECT_BINARY_DIR}=." ${options})
endfunction()
