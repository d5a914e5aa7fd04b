# Finds the CUDA toolkit and enables the language CUDA where SEGFOLD_CUDA allows it and nvcc works.
#
# Sets SEGFOLD_NVCC (true where .cu files can be compiled) and SEGFOLD_CCCL (the folder of CCCL's headers)
# and SEGFOLD_CUDART (the CUDA run-time library); the latter two only with the first.
# Included at the top level, because a language must be enabled above every target that uses it.

set(SEGFOLD_NVCC FALSE)
if(SEGFOLD_CUDA STREQUAL "OFF")
    return()
endif()

if(NOT CMAKE_CUDA_COMPILER)
    if(SEGFOLD_TOOLKIT)
        set(places PATHS ${SEGFOLD_TOOLKIT}/bin NO_DEFAULT_PATH)
    else()
        set(places HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin PATHS ${PROJECT_SOURCE_DIR}/.toolkit/bin)
    endif()
    find_program(SEGFOLD_NVCC_PROGRAM nvcc ${places})
    mark_as_advanced(SEGFOLD_NVCC_PROGRAM)
    if(SEGFOLD_NVCC_PROGRAM AND NOT DEFINED ENV{CUDACXX})
        set(CMAKE_CUDA_COMPILER ${SEGFOLD_NVCC_PROGRAM})
    endif()
endif()

# Machine code for the data centre generations, and forms to compile at run time for those between and after.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 80-real 90 CACHE STRING "Architectures of the CUDA code that nvcc compiles")
endif()

include(CheckLanguage)
if(SEGFOLD_CUDA STREQUAL "AUTO")
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
        message(STATUS "segfold: no usable nvcc, thrust's CUDA system is left out")
        return()
    endif()
endif()
enable_language(CUDA)
set(SEGFOLD_NVCC TRUE)

# FindCUDAToolkit of CMake 3.25 stumbles over toolkits without every library of the full one.
set(root ${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT})
find_path(SEGFOLD_CCCL thrust/version.h PATHS ${root}/include PATH_SUFFIXES cccl NO_DEFAULT_PATH REQUIRED)
find_library(SEGFOLD_CUDART cudart_static PATHS ${root} PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH REQUIRED)
mark_as_advanced(SEGFOLD_CCCL SEGFOLD_CUDART)

# NVRTC is opened at run time; in the build folder it is found where the toolkit is.
get_filename_component(folder ${SEGFOLD_CUDART} DIRECTORY)
if(NOT SEGFOLD_PORTABLE)
    list(APPEND CMAKE_BUILD_RPATH ${folder})
endif()
