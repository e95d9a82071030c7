"""Groups of actors that one simulation holds, because they are near each other or touch the same props."""
