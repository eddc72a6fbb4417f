"""Translation validation of n8n workflows against the processes they were made of."""
