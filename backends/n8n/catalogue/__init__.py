"""The node types of the user's own n8n: operations, what shows with which values, schemas."""
