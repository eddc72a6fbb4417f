"""Readers of messages: mailboxes, chat exports, call transcripts and tables.

Messages are not yet a process model, so these are not frontends of the registry: a reader returns
`Message` values, which a store keeps and discovery turns into a model.
"""
