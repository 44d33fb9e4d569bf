"""The commands of `hardwood`, one module each. `hardwood.cli.app` registers them."""
