"""Layers that several neural models share."""
