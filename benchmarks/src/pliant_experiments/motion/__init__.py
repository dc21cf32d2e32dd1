"""Laws without a surface: admittance, impedance, limits, singularities, and the force sensor."""
