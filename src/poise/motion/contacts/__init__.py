"""Contacts found from motion alone: soles on the ground, stances, steps, flight, and what is wrong with the frame
rate.
"""
