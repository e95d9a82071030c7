"""The wrench of prescribed parts on physical ones: exact, or as the mix paper published it."""
