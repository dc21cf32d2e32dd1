"""What a command may never exceed. Limits are free functions applied after the law."""
