"""A planted regression through somebody's own stack, to see that its alarm arrives."""
