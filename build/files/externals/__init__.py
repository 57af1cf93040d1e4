"""C around functions for tools that call them through an interface of their own."""
