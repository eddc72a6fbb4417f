"""Readers of messages: mailboxes, chat exports, call transcripts and tables.

They read what no process model is yet, so they are no frontends of the registry: a reader gives
`Message` values, which a store keeps and discovery turns into a model.
"""
