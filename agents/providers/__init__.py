"""Providers: who answers a judge's prompts."""
