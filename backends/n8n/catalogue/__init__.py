"""The node types of the user's own n8n: operations, visible parameters, schemas."""
