"""n8n's own engine in process: found, installed and driven from Python."""
