"""Design of observers: gains, what is seen and what is not (extra ``design``)."""
