"""Plots: pure functions from a frame to a HoloViews element, and to the columns that it draws.

Each module has `layers(frame, …)`, the columns by layer, and `element(frame, …)`, which dresses
them. A live figure is built once from `element` and fed from `layers` afterwards.
"""
