"""The C files of the real-time loop, and of the memory that it shares with a driver."""
