# Compile options shared by every native target, and the instruction levels that kernels are compiled for.

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

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
    # The same source gives the same bits on every level: a * b + c is never fused behind our back.
    -ffp-contract=off
    -fno-math-errno
    $<$<BOOL:${MLUOPS_WERROR}>:-Werror>)
  # Two of our libraries in one process must not share the static variables of inline functions.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
  if(MLUOPS_SANITIZE)
    if(MLUOPS_SANITIZE STREQUAL "thread")
      set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
    else()
      # enum: a C caller may pass any number as an enumerator, and the checks must be able to look at it.
      set(sanitize -fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer)
    endif()
    target_compile_options(${target} PRIVATE ${sanitize})
    target_link_options(${target} PRIVATE ${sanitize})
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

# How BANG C kernels are compiled for the simulator: mlusim_kernel_options(target arch nram wram sram), sizes in KiB.
function(mlusim_kernel_options target arch nram wram sram)
  target_compile_definitions(${target} PRIVATE
    __BANG__=1 __MLU__=1 __BANG_ARCH__=${arch} __MLU_NRAM_SIZE__=${nram} __MLU_WRAM_SIZE__=${wram} __MLU_SRAM_SIZE__=${sram})
  target_compile_options(${target} PRIVATE
    # No other sanitizer goes with the next one.
    -fno-sanitize=all
    # The checkers see scalar accesses through the hooks of this instrumentation; its library is not linked.
    -fsanitize=thread
    # A finding names the line of the instruction's return address.
    -g1 -gdwarf-4 -fno-optimize-sibling-calls -fno-tree-vectorize
    # Nor may two calls share one instruction.
    $<$<CXX_COMPILER_ID:GNU>:-fno-ipa-icf> $<$<CXX_COMPILER_ID:GNU>:-fno-crossjumping>
    $<$<CXX_COMPILER_ID:GNU>:-fno-tree-tail-merge>
    # Files are named as in the repository, whoever compiled them and where.
    "-ffile-prefix-map=${PROJECT_BINARY_DIR}/=" "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
    # On the device a literal without suffix is a float.
    $<$<CXX_COMPILER_ID:GNU>:-fsingle-precision-constant>
    $<$<CXX_COMPILER_ID:GNU>:--param=tsan-instrument-func-entry-exit=0>
    $<$<CXX_COMPILER_ID:Clang>:-Xclang=-cl-single-precision-constant>
    $<$<CXX_COMPILER_ID:Clang>:-Xclang=-ffloat16-excess-precision=none>
    $<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -tsan-instrument-func-entry-exit=0>
    -Wno-pedantic)
endfunction()
