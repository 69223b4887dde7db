"""What the machine offers: energy counters, which of them are alive, and calibration."""
