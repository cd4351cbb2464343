"""Sampling: which conversations are judged, by the digest of their key: a larger share holds every smaller one."""

from hashlib import blake2b


def is_sampled(key: bytes, share: float, purpose: bytes = b"sampling") -> bool:
    """Say whether a conversation is in a share of all; every judge, and the queue itself, asks the same digest.

    purpose: samples for different ones are independent of each other.
    """
    return int.from_bytes(blake2b(key, digest_size=8, person=purpose).digest(), "big") < share * 2**64
