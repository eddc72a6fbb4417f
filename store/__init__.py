"""The message store: one folder with messages, a full-text index and vectors."""
