"""Commands: one module for each, apart from those in cli.py, and what several of them share."""
