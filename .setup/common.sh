# shellcheck shell=bash disable=SC2034,SC2154
# Shared by the launchers ./segfold and ./test: packages, CUDA toolkit, build.
#
# Sourced with `root` (the checkout), `build` (the build folder) and, for is_fresh, `watched` (what the build reads).
# Everything here writes to stderr or to a log; stdout belongs to the program. A failed set-up ends with exit code 3.

packages="cmake ninja-build g++ pkg-config python3 libboost-dev libboost-context-dev libboost-program-options-dev
          libfmt-dev nlohmann-json3-dev zlib1g-dev libtbb-dev libz3-dev"
csv_packages="libcsv-dev" # without it .csv files are not read
mpi_packages="libopenmpi-dev openmpi-bin"
thrust_packages="libthrust-dev"
test_packages="libgtest-dev libgmock-dev python3-dev python3-venv"
python_packages="numpy pytest nanobind>=3 scikit-build-core>=0.11"
python_extras="scikit-learn==1.7.2 jax==0.10.2;python_version>='3.11'" # tests skip aloud without them
toolkit_wheels="nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl"
toolkit_release="13.0"
oldest_toolkit="12.4"

say() { printf 'segfold: %s\n' "$*" >&2; }

fail() {
    say "$@"
    exit 3
}

# Runs a command with its output in a log; shows the log's end when the command fails.
logged() {
    local log=$build/$1.log
    shift
    if [[ -t 2 ]]; then
        "$@" >&2 && return
    else
        "$@" >"$log" 2>&1 && return
        tail -n 40 "$log" >&2
        say "the whole log is $log"
    fi
    return 1
}

at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

as_root() {
    if [[ $(id -u) == 0 ]]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

# Installs the Debian packages that are missing; asks for nothing where all are there.
install_packages() {
    command -v dpkg-query >/dev/null || return 0
    local missing=() package
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *" installed" ]] && continue
        case $package in # tools count wherever they come from
            cmake) command -v cmake >/dev/null && at_least "$(cmake --version | grep -o '[0-9.]*' | head -n 1)" 3.25 && continue ;;
            ninja-build) command -v ninja >/dev/null && continue ;;
            python3-dev) python3 -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null && continue ;;
            python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null && continue ;;
            g++ | pkg-config | python3 | clang-format | clang-tidy) command -v "$package" >/dev/null && continue ;;
        esac
        missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    say "installing packages: ${missing[*]}"
    [[ $(id -u) == 0 ]] || command -v sudo >/dev/null ||
        fail "packages are missing and neither root nor sudo is at hand; install them and start again: ${missing[*]}"
    logged packages as_root apt-get install -y --no-install-recommends "${missing[@]}" 2>/dev/null && return 0
    say "updating the package lists"
    logged update as_root apt-get update || fail "apt-get update failed; these packages are missing: ${missing[*]}"
    logged packages as_root apt-get install -y --no-install-recommends "${missing[@]}" ||
        fail "apt-get could not install ${missing[*]}"
}

# True where a folder holds nvcc, NVRTC and CCCL of a release this project can use.
is_toolkit() {
    local nvcc=$1/bin/nvcc version
    [[ -x $nvcc ]] && compgen -G "$1/lib64/libnvrtc.so*" >/dev/null || return 1
    [[ -e $1/include/cccl/thrust/version.h || -e $1/include/thrust/version.h ]] || return 1
    version=$("$nvcc" --version 2>/dev/null | grep -o 'release [0-9.]*') || return 1
    at_least "${version#release }" "$oldest_toolkit"
}

# Sets `toolkit` to the CUDA toolkit to build with, empty where there is none and none can be had.
find_toolkit() {
    local place nvcc
    toolkit=
    [[ ${SEGFOLD_CUDA:-AUTO} == OFF ]] && return
    nvcc=$(command -v nvcc) && nvcc=$(readlink -f "$nvcc")
    for place in "${SEGFOLD_TOOLKIT:-}" "${CUDA_HOME:-}" /usr/local/cuda "${nvcc%/bin/nvcc}" "$root/.toolkit"; do
        if [[ -n $place ]] && is_toolkit "$place"; then
            toolkit=$place
            return
        fi
    done
    [[ -e $build/toolkit-unavailable ]] && return
    if fetch_toolkit; then
        toolkit=$root/.toolkit
    else
        say "no CUDA toolkit is here and none can be had from the package index ($build/toolkit.log);" \
            "building without one"
        rm -rf "$root/.toolkit.part"
        touch "$build/toolkit-unavailable"
    fi
}

# Lays the toolkit's wheels out as the toolkit itself is laid out: bin, include, lib64, nvvm.
fetch_toolkit() {
    local work=$root/.toolkit.part wheel library
    rm -rf "$work"
    mkdir -p "$work/wheels"
    python3 -m pip --version >/dev/null 2>&1 || (install_packages python3-pip) || return 1
    say "fetching CUDA $toolkit_release (nvcc, NVRTC, CCCL; about 200 MB) into .toolkit"
    # shellcheck disable=SC2046,SC2086
    python3 -m pip download --quiet --disable-pip-version-check --retries 2 --no-deps --only-binary=:all: \
        --dest "$work/wheels" $(printf "%s==$toolkit_release.* " $toolkit_wheels) >"$build/toolkit.log" 2>&1 || return 1
    for wheel in "$work"/wheels/*.whl; do
        python3 -m zipfile -e "$wheel" "$work/unpacked" || return 1
    done
    local home=$work/unpacked/nvidia/cu${toolkit_release%%.*}
    [[ -d $home/bin ]] || return 1
    rm -f "$home"/lib/*.alt.so* # a second build of NVRTC
    chmod +x "$home"/bin/* "$home"/nvvm/bin/*
    [[ -e $home/lib64 ]] || ln -s lib "$home/lib64"
    for library in "$home"/lib/lib*.so.*; do
        ln -sf "${library##*/}" "${library%%.so.*}.so"
    done
    is_toolkit "$home" || return 1
    [[ -d $root/.toolkit/cccl-newest ]] && mv "$root/.toolkit/cccl-newest" "$home"
    rm -rf "$root/.toolkit"
    mv "$home" "$root/.toolkit" && rm -rf "$work"
}

# Sets SEGFOLD_CCCL to the folder that it asks for (newest, toolkit or a folder), by itself to the newest CCCL that was
# fetched before; the toolkit's own are taken where it is not set.
choose_cccl() {
    case ${SEGFOLD_CCCL:-} in
        "") [[ ! -d $root/.toolkit/cccl-newest ]] || export SEGFOLD_CCCL=$root/.toolkit/cccl-newest ;;
        newest) find_newest_cccl ;;
        toolkit) unset SEGFOLD_CCCL ;;
    esac
}

# Gives peers the newest CCCL of the package index, fetched once: sets SEGFOLD_CCCL, or removes it where none can be had.
find_newest_cccl() {
    local headers=$root/.toolkit/cccl-newest
    mkdir -p "$build" || exit 3
    if [[ -e $headers/cub/version.cuh ]] || (
        flock 9
        [[ -e $headers/cub/version.cuh ]] || fetch_newest_cccl "$headers"
    ) 9>"$build/.lock"; then
        export SEGFOLD_CCCL=$headers
    else
        say "the newest CCCL cannot be had from the package index ($build/cccl.log); peers take the toolkit's own"
        rm -rf "$root/.toolkit.cccl"
        unset SEGFOLD_CCCL
    fi
}

fetch_newest_cccl() {
    local work=$root/.toolkit.cccl wheel found
    rm -rf "$work"
    mkdir -p "$work"
    python3 -m pip --version >/dev/null 2>&1 || (install_packages python3-pip) || return 1
    say "fetching the newest CCCL (headers, about 4 MB) into .toolkit/cccl-newest"
    python3 -m pip download --quiet --disable-pip-version-check --retries 2 --no-deps --only-binary=:all: \
        --dest "$work" nvidia-cuda-cccl >"$build/cccl.log" 2>&1 || return 1
    for wheel in "$work"/*.whl; do
        python3 -m zipfile -e "$wheel" "$work/unpacked" >>"$build/cccl.log" 2>&1 || return 1
    done
    found=$(compgen -G "$work/unpacked/nvidia/cu*/include/cccl/cub/version.cuh") || {
        echo "the wheel has no cub/version.cuh where it is looked for: nvidia/cu*/include/cccl" >>"$build/cccl.log"
        return 1
    }
    mkdir -p "${1%/*}"
    rm -rf "$1"
    mv "${found%/cub/version.cuh}" "$1" && rm -rf "$work"
}

# Sets `python` to the interpreter of a virtual environment in which the Python package is built and tested; empty, with the
# reason in `python_missing`, where none can be made.
find_python() {
    local environment=$build/python-environment
    python=$environment/bin/python
    python_missing=
    local pages=$root/docs/requirements.txt made_of # tests of the site and of notebooks skip aloud without these
    made_of="$python_packages $python_extras $(<"$pages")"
    [[ -e $environment/.made-of && $(<"$environment/.made-of") == "$made_of" ]] && "$python" -c '' 2>/dev/null && return
    rm -rf "$environment"
    say "making a virtual environment for the Python package: $python_packages $python_extras"
    # shellcheck disable=SC2086
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
        python_missing="Python 3.10 or later is needed, and this is $(python3 --version 2>&1)"
    elif ! python3 -m venv "$environment" >"$build/python.log" 2>&1; then
        python_missing="no virtual environment can be made ($build/python.log)"
    elif ! "$python" -m pip install --quiet --disable-pip-version-check --retries 2 --only-binary=:all: $python_packages \
        >>"$build/python.log" 2>&1; then
        python_missing="the package index gives no $python_packages ($build/python.log)"
    else
        for extra in $python_extras; do
            "$python" -m pip install --quiet --disable-pip-version-check --retries 2 --only-binary=:all: "$extra" \
                >>"$build/python.log" 2>&1 || say "the package index gives no $extra; tests of it are skipped"
        done
        "$python" -m pip install --quiet --disable-pip-version-check --retries 2 --only-binary=:all: -r "$pages" >>"$build/python.log" 2>&1 ||
            say "the package index gives not all of docs/requirements.txt; the site is not built and notebooks are not run"
        printf '%s' "$made_of" >"$environment/.made-of"
        return
    fi
    python=
}

# Sets `mpi` to ON or OFF, or to nothing where the build stays as it was: SEGFOLD_MPI says so; for tests it is ON where the
# packages can be had.
find_mpi() {
    mpi=${SEGFOLD_MPI:-}
    case $mpi in
        ON)
            # shellcheck disable=SC2086
            install_packages $mpi_packages
            command -v mpicxx >/dev/null || fail "SEGFOLD_MPI is ON, and there is no mpicxx; put one into PATH"
            ;;
        OFF) ;;
        "")
            [[ $1 == all ]] || return 0
            # shellcheck disable=SC2086
            if (install_packages $mpi_packages) && command -v mpicxx >/dev/null; then
                mpi=ON
            else
                say "there is no MPI and none can be had; building without it"
                mpi=OFF
            fi
            ;;
        *) fail "SEGFOLD_MPI is '$mpi'; write ON or OFF" ;;
    esac
}

# Sets `thrust` to the folder of Thrust's headers for a build without a CUDA toolkit, empty where they cannot be had.
find_thrust() {
    thrust=
    [[ -z $toolkit && ${SEGFOLD_CUDA:-AUTO} != OFF ]] || return 0
    # shellcheck disable=SC2086
    [[ -e /usr/include/thrust/version.h ]] || (install_packages $thrust_packages) ||
        say "Thrust's headers cannot be had either; results are not compared with it"
    [[ ! -e /usr/include/thrust/version.h ]] || thrust=/usr/include
}

# Runs find_python beside what follows; take_python waits for it and sets what it has found.
begin_python() {
    (find_python && printf '%s\n%s\n' "$python" "$python_missing" >"$build/.python-found") &
    python_at_work=$!
}

take_python() {
    wait "$python_at_work" || fail "the virtual environment for the Python package could not be made"
    { read -r python && read -r python_missing; } <"$build/.python-found"
    rm -f "$build/.python-found"
}

# build_targets PRESET TARGET...: sets the machine up and brings the targets of build/PRESET up to date.
build_targets() {
    local preset=$1 arguments=()
    shift
    # shellcheck disable=SC2086
    install_packages $packages
    (install_packages $csv_packages) || say "building without $csv_packages: .csv files are not read"
    [[ $* != all ]] || begin_python
    find_toolkit
    arguments+=("-DSEGFOLD_TOOLKIT=$toolkit" "-DSEGFOLD_CUDA=$([[ -n $toolkit ]] && echo AUTO || echo OFF)")
    find_thrust
    [[ -n $thrust ]] && arguments+=("-DSEGFOLD_CCCL_FOLDER=$thrust") || arguments+=(-USEGFOLD_CCCL_FOLDER)
    find_mpi "$*"
    [[ -z $mpi ]] || arguments+=("-DSEGFOLD_MPI=$mpi")
    # CMake refuses a cache that another checkout wrote (a copied tree) and cannot change compilers in one.
    local cache=$build/CMakeCache.txt
    if [[ -e $cache ]] && ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" &&
        grep -qxE "SEGFOLD_TOOLKIT:[A-Z]+=$toolkit" "$cache"; }; then
        rm -rf "$cache" "$build/CMakeFiles"
    fi
    if [[ $* == all ]]; then
        take_python
        arguments+=(-DSEGFOLD_TESTS=ON "-DSEGFOLD_PYTHON=$([[ -n $python ]] && echo ON || echo OFF)"
            "-DPython_EXECUTABLE=$python" "-DSEGFOLD_PYTHON_MISSING=$python_missing")
    fi
    touch "$build/.program-begun"
    say "building (about a minute on a large machine, several on a small one; only what changed from then on)"
    cd "$root" || exit 3
    logged configure cmake --preset "$preset" "${arguments[@]}" || fail "the build could not be configured"
    logged build cmake --build "$build" --target "$@" -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" || fail "the build failed"
    mv "$build/.program-begun" "$build/.program-built"
}

# True where nothing that the build reads is newer than the stamp of the last build.
is_fresh() {
    [[ -e $1 ]] && [[ -z $(cd "$root" && find "${watched[@]}" -newer "$1" -print -quit 2>/dev/null) ]]
}
