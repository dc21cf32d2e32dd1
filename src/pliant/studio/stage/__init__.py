"""What the Studio shows: a loop, its scene, its recorder and its history."""
