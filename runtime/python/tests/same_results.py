"""What tests share that compare a fold with another plan's."""

import numpy as np

import segfold as sf


def expect_same(found, wanted, told=""):
    """Equal bits. Where a GPU is, plans of one fold may take other stages, and floats may differ in their last places."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, told
    if sf.devices() and found.dtype.kind == "f":
        limits = np.finfo(found.dtype)
        np.testing.assert_allclose(found, wanted, rtol=32 * limits.eps, atol=limits.tiny, err_msg=told)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=told)
