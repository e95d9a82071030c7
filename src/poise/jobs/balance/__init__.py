"""A clip changes as little as needed so that it balances."""
