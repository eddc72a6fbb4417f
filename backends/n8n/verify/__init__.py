"""Translation validation of n8n workflows against their source processes."""
