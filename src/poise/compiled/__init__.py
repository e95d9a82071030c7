"""Compiled code: `@kernel` functions, laws that the step calls by address, and the memory that both share.

Read `kernel` first, then `law`, `views` and `arena`. `code_cache`, `late_code` and `quick_compile` change what Numba
does inside. Nothing here knows bodies or physics.
"""
