"""Deployment: plan, apply, identify what is already there."""
