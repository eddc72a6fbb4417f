"""Nets of X / A / O nodes: a scope as a net, its reduction and its region tree."""
