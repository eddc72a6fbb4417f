"""n8n's REST API: calls, errors, credentials, compatibility."""
