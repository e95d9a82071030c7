"""Where a foot can stand: terrain under the sole, contact of the sole, and the search for a foothold."""
