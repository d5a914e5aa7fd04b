#include "runtime/simt/symbols.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "dsl/error.h"
#include "runtime/support/processes/process.h"

namespace segfold::simt {
namespace {

/// Returns a symbol's name for messages: "partials of reduce" for "reduce::partials".
std::string readable_name(const char* symbol)
{
    int status = 0;
    char* demangled = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::string name = status == 0 ? demangled : symbol;
    std::free(demangled);
    const std::size_t colons = name.rfind("::");
    if (colons == std::string::npos)
        return name;
    std::string function = name.substr(0, colons);
    function.resize(std::min(function.find('('), function.size()));
    return name.substr(colons + 2) + " of " + function;
}

template <class T>
const T* at(const std::string& file, std::uint64_t offset, std::uint64_t count = 1)
{
    if (offset > file.size() || count > (file.size() - offset) / sizeof(T))
        throw DeviceError("simt: the compiled text ends inside a table at offset " + std::to_string(offset) +
                          " of " + std::to_string(file.size()) + " bytes");
    return reinterpret_cast<const T*>(file.data() + offset);
}

void sort_by_place(std::vector<Symbol>& symbols)
{
    std::sort(symbols.begin(), symbols.end(),
              [](const Symbol& a, const Symbol& b) { return a.place < b.place; });
}

void add_symbols(const std::string& file, const Elf64_Shdr& table, const Elf64_Shdr& names, Symbols& symbols)
{
    const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* entries = at<Elf64_Sym>(file, table.sh_offset, count);
    at<char>(file, names.sh_offset, names.sh_size);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Elf64_Sym& entry = entries[i];
        const unsigned type = ELF64_ST_TYPE(entry.st_info);
        if (entry.st_shndx == SHN_UNDEF || entry.st_size == 0 || entry.st_name >= names.sh_size)
            continue;
        const Symbol symbol{readable_name(file.data() + names.sh_offset + entry.st_name), entry.st_value,
                            entry.st_size};
        if (type == STT_TLS)
            symbols.shared.push_back(symbol);
        else if (type == STT_OBJECT && symbol.name.rfind("__", 0) != 0)
            symbols.variables.push_back(symbol);
    }
}

/// Returns the line number in "…/text.cu:57" or "…/text.cu:57 (discriminator 3)"; 0 if the file is not
/// `text_name`.
int line_in(const std::string& frame, const std::string& text_name)
{
    const std::size_t colon = frame.rfind(':');
    if (colon == std::string::npos || colon < text_name.size() ||
        frame.compare(colon - text_name.size(), text_name.size(), text_name) != 0)
        return 0;
    return std::atoi(frame.c_str() + colon + 1);
}

}  // namespace

Symbols read_symbols(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(stream), {}};
    const auto& header = *at<Elf64_Ehdr>(file, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        throw DeviceError("simt: the compiler wrote " + path + ", which is no 64-bit ELF file");
    Symbols symbols;
    const auto* segments = at<Elf64_Phdr>(file, header.e_phoff, header.e_phnum);
    for (int i = 0; i < header.e_phnum; ++i)
        if (segments[i].p_type == PT_TLS)
            symbols.shared_bytes = segments[i].p_memsz;
    const auto* sections = at<Elf64_Shdr>(file, header.e_shoff, header.e_shnum);
    for (int i = 0; i < header.e_shnum; ++i)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header.e_shnum)
            add_symbols(file, sections[i], sections[sections[i].sh_link], symbols);
    sort_by_place(symbols.shared);
    sort_by_place(symbols.variables);
    return symbols;
}

std::vector<std::vector<int>> find_lines(const std::string& library, const std::string& text_name,
                                         std::span<const std::uint64_t> addresses)
{
    std::vector<std::vector<int>> lines(addresses.size());
    const auto program = find_program("addr2line");
    if (!program || addresses.empty())
        return lines;
    std::vector<std::string> arguments = {*program, "-a", "-i", "-e", library};
    for (const std::uint64_t address : addresses) {
        std::ostringstream text;
        text << "0x" << std::hex << address;
        arguments.push_back(text.str());
    }
    // For each address, addr2line prints a line "0x…" and then the frames, innermost first. Frames in other
    // files, such as the shim, are skipped.
    std::istringstream output(run_process(arguments).output);
    std::ptrdiff_t place = -1;
    for (std::string frame; std::getline(output, frame);) {
        if (frame.rfind("0x", 0) == 0)
            ++place;
        else if (const int line = line_in(frame, text_name);
                 line != 0 && place >= 0 && place < static_cast<std::ptrdiff_t>(lines.size()))
            lines[static_cast<std::size_t>(place)].push_back(line);
    }
    return lines;
}

}  // namespace segfold::simt
