"""The command `hardwood`."""
