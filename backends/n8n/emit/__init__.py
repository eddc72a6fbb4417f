"""From a legal process to n8n workflows."""
