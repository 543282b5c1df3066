# Installation for C and C++: headers, library, CMake package and pkg-config file. It is relocatable.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(FILES native/include/mlu_op.h native/include/mluops_ext.h native/include/mluops.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY native/include/mluops_ext DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS mluops_cpu EXPORT mluopsTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if("sim" IN_LIST MLUOPS_TARGETS)
  install(
    FILES native/sim/include/cn_api.h native/sim/include/cnrt.h native/sim/include/cnrt_older.h native/sim/include/mlusim.h
          native/sim/include/mlusim_profile.h
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mlusim")
  install(TARGETS mlusim mluops_sim EXPORT mluopsTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/mluops")
install(EXPORT mluopsTargets NAMESPACE mluops:: DESTINATION "${package_dir}")
configure_package_config_file(
  cmake/mluopsConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/mluopsConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${CMAKE_CURRENT_BINARY_DIR}/mluopsConfigVersion.cmake" VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mluopsConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/mluopsConfigVersion.cmake"
        DESTINATION "${package_dir}")

# The .pc file derives its prefix from its own path.
set(pkgconfig_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH MLUOPS_PC_PREFIX "${pkgconfig_dir}" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH MLUOPS_PC_LIBDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH MLUOPS_PC_INCLUDEDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file(cmake/mluops.pc.in "${CMAKE_CURRENT_BINARY_DIR}/mluops.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mluops.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
