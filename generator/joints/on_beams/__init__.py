"""Joints that slide along beams, and beams that slide through joints (P_a and P_b of paper 003)."""
