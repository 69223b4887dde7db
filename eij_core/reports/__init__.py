"""Reports of a campaign's store: statistics, tables, figures, one page, other formats."""

from .dataset import Dataset, read_dataset
from .report import Report, report_of

__all__ = ["Dataset", "Report", "read_dataset", "report_of"]
