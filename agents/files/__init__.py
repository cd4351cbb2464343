"""Files: recordings that are read, converted, simulated, judged and sent."""
