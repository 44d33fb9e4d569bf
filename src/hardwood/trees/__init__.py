"""Trees, the adversary that attacks them, and their forms for others."""
