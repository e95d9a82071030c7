"""States: saving a stage at any moment and going on from there with the same bits."""
