"""Recorded turns through the pipeline on this machine, and what is made of the results."""
