"""Analysis of recordings: figures, pictures and reports."""
