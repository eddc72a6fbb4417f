"""A real n8n server on this machine: installed, booted, stopped, and driven by REST."""
