"""Physics on a chosen part of a body, under the rest of its clip. `job` tells the story."""
