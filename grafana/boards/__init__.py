"""Dashboards: one module each, which says what stands on it."""
