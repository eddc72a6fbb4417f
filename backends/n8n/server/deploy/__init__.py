"""Deployment: plan, apply, identify existing workflows."""
