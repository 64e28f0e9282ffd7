"""One file per medium, the way an agent acts: by calling gates, in Python, or in bash."""
