"""Discovery: from messages to cases, from cases to processes, from processes to a model."""
