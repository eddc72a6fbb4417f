"""XML for frontends: a tree with exact places; hostile input is refused."""
