"""Sampling: which conversations are judged, by the digest of their key: a larger share holds every smaller one."""

from hashlib import blake2b


def is_sampled(key: bytes, share: float) -> bool:
    """Say whether a conversation is in a share of all; every judge, and the queue itself, asks the same digest."""
    return int.from_bytes(blake2b(key, digest_size=8, person=b"sampling").digest(), "big") < share * 2**64
