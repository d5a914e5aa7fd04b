# Finds the CUDA toolkit and enables the language CUDA where SEGFOLD_CUDA allows it and nvcc works.
#
# Sets SEGFOLD_NVCC (true where .cu files can be compiled, then also SEGFOLD_CUDART, the CUDA run-time library) and
# SEGFOLD_CCCL (the folder of CCCL's headers, or false). Included at the top level, because a language must be
# enabled above every target that uses it.

set(SEGFOLD_NVCC FALSE)
set(SEGFOLD_CCCL FALSE)
if(SEGFOLD_CUDA STREQUAL "OFF")
    if(SEGFOLD_CCCL_FOLDER) # headers that somebody names serve Thrust's system of the host's threads
        set(SEGFOLD_CCCL ${SEGFOLD_CCCL_FOLDER})
    endif()
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

# One form costs a quarter of the time of three: this machine's GPU, or what a driver compiles for any.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    if(SEGFOLD_PORTABLE)
        set(architectures 75-virtual 80-real 90)
    elseif(EXISTS /dev/nvidiactl)
        set(architectures native)
    else()
        set(architectures 75-virtual)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING "Architectures of the CUDA code that nvcc compiles")
endif()

include(CheckLanguage)
if(SEGFOLD_CUDA STREQUAL "AUTO")
    check_language(CUDA)
endif()
if(CMAKE_CUDA_COMPILER OR SEGFOLD_CUDA STREQUAL "ON")
    enable_language(CUDA)
    set(SEGFOLD_NVCC TRUE)
else()
    message(STATUS "segfold: no nvcc that works; Thrust's CUDA system is left out")
endif()

# FindCUDAToolkit of CMake 3.25 stumbles over toolkits without every library of the full one.
if(SEGFOLD_NVCC)
    set(toolkit ${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT})
    find_library(SEGFOLD_CUDART cudart_static PATHS ${toolkit} PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH REQUIRED)
    mark_as_advanced(SEGFOLD_CUDART)
else()
    set(toolkit ${SEGFOLD_TOOLKIT} $ENV{CUDA_HOME} /usr/local/cuda ${PROJECT_SOURCE_DIR}/.toolkit)
endif()
list(TRANSFORM toolkit APPEND /include/cccl OUTPUT_VARIABLE places)
list(TRANSFORM toolkit APPEND /include OUTPUT_VARIABLE older_places)
find_path(SEGFOLD_CCCL_FOLDER thrust/version.h PATHS ${places} ${older_places} NO_DEFAULT_PATH)
mark_as_advanced(SEGFOLD_CCCL_FOLDER)
if(SEGFOLD_CCCL_FOLDER)
    set(SEGFOLD_CCCL ${SEGFOLD_CCCL_FOLDER})
endif()

# NVRTC is opened at run time; in the build folder it is found where the toolkit is.
if(NOT SEGFOLD_PORTABLE)
    foreach(place IN LISTS toolkit)
        list(APPEND CMAKE_BUILD_RPATH ${place}/lib64)
    endforeach()
endif()

# Compiles a target's .cu files as C++20. CMake 3.25 does not know that nvcc 12 and later have it, and must not ask for an
# older one.
function(segfold_cuda_20 target)
    if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
        target_compile_features(${target} PRIVATE cuda_std_20)
    else()
        set_target_properties(${target} PROPERTIES CUDA_EXTENSIONS ON)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    endif()
endfunction()

# Thrust's CUDA system, which joins segfold_runtime. No file takes longer, and ninja begins with the targets that come first.
if(SEGFOLD_NVCC)
    add_library(segfold_thrust_cuda OBJECT ${CMAKE_CURRENT_LIST_DIR}/cuda_system.cu)
    target_include_directories(segfold_thrust_cuda PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(segfold_thrust_cuda PRIVATE --expt-relaxed-constexpr)
    segfold_cuda_20(segfold_thrust_cuda)
endif()
