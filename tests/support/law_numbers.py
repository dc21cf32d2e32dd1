"""The numbers of the laws in records."""

from pliant.control.laws.registry import LAWS

HOLD, ADMITTANCE, IMPEDANCE, CONTACT = (LAWS[name].number for name in ("hold", "admittance", "impedance", "contact"))
