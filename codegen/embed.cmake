# Text files become one C++ file of raw string literals.
#
# Included, this file defines
#
#   segfold_embed(TARGET SYMBOL ROOT FILE...)
#
# which gives TARGET a generated source that defines
# `std::span<const EmbeddedFile> segfold::SYMBOL()` (dsl/embedded_file.h), one entry per FILE in the order given,
# with paths relative to the folder ROOT. The generated file is rewritten whenever a FILE changes.
#
# The source belongs to an object library of its own, TARGET_SYMBOL. CMake runs the commands that write sources of a
# library after every library that it links, so TARGET itself would compile only after those are archived.
#
# Run with `cmake -P`, it writes that source.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(SEGFOLD_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

    # segfold_objects(TARGET NAME SOURCE): TARGET gets the object of a SOURCE that a command writes or feeds.
    function(segfold_objects target name source)
        add_library(${target}_${name} OBJECT ${source})
        target_compile_features(${target}_${name} PRIVATE cxx_std_20)
        target_include_directories(${target}_${name} PRIVATE ${PROJECT_SOURCE_DIR})
        target_link_libraries(${target}_${name} PRIVATE segfold_flags)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${name}>)
    endfunction()

    function(segfold_embed target symbol root)
        cmake_path(ABSOLUTE_PATH root NORMALIZE)
        set(files "")
        set(sources "")
        foreach(file IN LISTS ARGN)
            cmake_path(ABSOLUTE_PATH file NORMALIZE)
            list(APPEND sources ${file})
            cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${root})
            list(APPEND files ${file})
        endforeach()
        list(JOIN files "|" joined)
        set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
        add_custom_command(OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} -DROOT=${root} -DFILES=${joined}
                    -P ${SEGFOLD_EMBED_SCRIPT}
            DEPENDS ${sources} ${SEGFOLD_EMBED_SCRIPT}
            COMMENT "Embedding ${symbol}"
            VERBATIM)
        # The standard only promises literals of 65536 characters; both supported compilers take any length.
        set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
        segfold_objects(${target} ${symbol} ${output})
    endfunction()
    return()
endif()

set(entries "")
set(count 0)
string(REPLACE "|" ";" FILES "${FILES}")
foreach(file IN LISTS FILES)
    file(READ "${ROOT}/${file}" text)
    set(delimiter "text")
    string(FIND "${text}" ")${delimiter}\"" place)
    while(NOT place EQUAL -1)
        string(APPEND delimiter "_")
        string(FIND "${text}" ")${delimiter}\"" place)
    endwhile()
    string(APPEND entries "    {R\"(${file})\"sv, R\"${delimiter}(${text})${delimiter}\"sv},\n")
    math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}" "// Written by codegen/embed.cmake.
#include <array>
#include <span>

#include \"dsl/embedded_file.h\"

namespace segfold {

std::span<const EmbeddedFile> ${SYMBOL}();

std::span<const EmbeddedFile> ${SYMBOL}()
{
    using namespace std::string_view_literals;  // a view that counts is limited by the compiler
    static constexpr std::array<EmbeddedFile, ${count}> kFiles{{
${entries}    }};
    return kFiles;
}

}  // namespace segfold
")
