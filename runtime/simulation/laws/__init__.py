"""Control laws that simulations compute."""
