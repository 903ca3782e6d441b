"""Trains models on stores."""
