"""What a user of the driver can do wrong."""


class ConfigError(Exception):
    """One clear line: what is wrong with an inventory, a configuration or a path, and what to do."""
