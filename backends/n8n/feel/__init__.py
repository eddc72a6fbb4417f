"""FEEL and decisions as JavaScript that n8n runs in expressions and Code nodes."""
