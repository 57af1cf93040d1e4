"""What the tests of kernels for devices share."""
