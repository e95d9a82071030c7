"""placo on the targets of `poise bench ik`: `make placo` builds it an environment of its own and compares."""
