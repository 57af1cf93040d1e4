"""What emitted code and the runtime share: all rooms read it, it imports nothing, and it is part of the cache key."""
