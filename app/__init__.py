"""The dashboard of EI/J and its embeddable widgets."""
