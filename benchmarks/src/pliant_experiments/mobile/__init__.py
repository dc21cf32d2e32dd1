"""Mobile bases: velocity from poses, planning, following, whole-body motion, and missions."""
