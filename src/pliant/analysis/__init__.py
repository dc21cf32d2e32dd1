"""What a recording shows: numbers, pictures and reports."""
