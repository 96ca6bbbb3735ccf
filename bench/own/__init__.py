"""A user's own model: what its file holds, what it is fed with, and why it is refused."""
