"""The registry of controllers, and those that do not stand in :mod:`elastogen.runtime.loop.controllers`."""
