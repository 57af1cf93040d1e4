"""Pages that show a robot: a motion to play, a robot to play with, a report. Self-contained HTML."""
