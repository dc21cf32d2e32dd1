"""Tasks: their declaration, their files, and the tasks that come with Pliant."""
