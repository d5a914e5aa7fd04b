"""Finds NVRTC, the CUDA compiler, among Python packages."""

import importlib.util
import os
import sys


def places():
    """Returns the folders that may hold libnvrtc: the folders of NVIDIA's wheels, then the folder found by cuda-pathfinder."""
    found = []
    for entry in sys.path:
        for folder in ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"):
            path = os.path.join(entry, folder)
            if os.path.isdir(path):
                found.append(path)
    if not found:
        path = _from_pathfinder()
        if path:
            found.append(path)
    return found


def _from_pathfinder():
    try:
        if importlib.util.find_spec("cuda.pathfinder") is None:
            return None
        from cuda.pathfinder import load_nvidia_dynamic_lib

        return os.path.dirname(load_nvidia_dynamic_lib("nvrtc").abs_path)
    except Exception:  # whatever fails, the other folders are still searched
        return None
