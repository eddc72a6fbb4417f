"""Runs of emitted workflows: scripted data, n8n's engine, and the model of it."""
