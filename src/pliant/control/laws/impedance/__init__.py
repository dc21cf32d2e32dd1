"""The impedance law: joint torques that make the tool move like a mass on a spring and a damper."""
