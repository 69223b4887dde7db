"""The Run page: settings at the side, transport above, views below."""
