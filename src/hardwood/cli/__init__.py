"""The command line `hardwood` (extra `cli`)."""
