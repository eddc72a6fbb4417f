"""Corpora of messages made from models, with the truth about them."""
