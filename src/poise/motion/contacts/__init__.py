"""Contacts found from motion alone. `points` lists the points of feet, knees and hands; `contacts` finds what touches.

From these: `support` (surfaces at any height), `stepping` (whether a clip stands or steps), `flight`. What is wrong
with a recording: `frame_rate` by flights, `standing_rate` by the soles, `synthetic` (keyed, not recorded), `glitches`.
"""
