"""The Zoo page: rules in cases with a known answer."""
