"""What a campaign's store says: frames, statistics, tables, figures, one page, other formats."""

from .frames import Frames, frames_of
from .report import Report, report_of

__all__ = ["Frames", "Report", "frames_of", "report_of"]
