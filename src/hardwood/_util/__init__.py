"""Modules that every package may use: arguments, arrays, errors, files, text, the compiled extension."""
