"""Code that commands share: options, progress, printing, completion."""
