"""What memcliff itself costs, and its peers: how that is measured, and the page of it."""
