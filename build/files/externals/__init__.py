"""C around functions, as tools call what is compiled apart from them."""
