"""What tasks share: answers of one token and of several, losses of windows, a grid of lengths and
depths.
"""
