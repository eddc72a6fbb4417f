"""Proofs of processes of segments, whose open work is rows of a Data Table."""
