"""The guard of a refactoring: every simulation, command and file has the same bits before and after.

    make same-bits BEFORE=REVISION [ARGS="--only WORD"]

Read in this order: `cases.py` (what a case is, and the list of modules that have some), one of `cases_*.py`,
`record.py` (how a result becomes hashes), `revisions.py` (how one revision is run), `compare.py`, `__main__.py`.
`names.py` finds what a revision calls by another name; `functions.py` counts the functions that the cases run.

Both revisions run the cases of the working tree. So a case imports nothing of Poise but `poise`: what is not public is
asked of `names.find`.
"""
