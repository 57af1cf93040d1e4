"""Design of observers: gains, and which motions the sensors observe (extra ``design``)."""
