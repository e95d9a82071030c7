"""Long runs over ranges: whether Poise holds where nobody tuned it. `make sweep` runs them and writes what came out."""
