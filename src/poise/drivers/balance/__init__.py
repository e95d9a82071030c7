"""`Balance`: legs hold the centre of mass over the feet by contact forces."""
