"""Shifts: what a user says about them, what a change costs, and what can be paid for."""
