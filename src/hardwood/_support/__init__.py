"""What every room may use: arguments, files, the compiled part."""
