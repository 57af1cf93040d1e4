"""What emitted code and the runtime agree on: read by all rooms, imports nothing, part of the cache key."""
