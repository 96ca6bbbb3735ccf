"""A user's own model: the options that name it, what it holds, and what is said of it."""
