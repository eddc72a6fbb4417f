"""XML as frontends read it: a tree with exact places, hostile input refused."""
