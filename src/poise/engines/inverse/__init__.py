"""The engine `inverse`, the strength paper's simulator: joint accelerations in, contact forces and motion out."""
