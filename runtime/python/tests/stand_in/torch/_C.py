stream = 0


def _cuda_getCurrentRawStream(device):
    return stream
