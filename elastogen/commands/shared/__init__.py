"""What commands share: options, progress, words, completion."""
