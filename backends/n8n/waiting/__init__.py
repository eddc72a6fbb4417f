"""Processes that wait in several places: the table of rows and the workflows that change them."""
