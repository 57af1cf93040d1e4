"""Pages that notebooks show."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

HEIGHT = 760  # of its frame [pixels]


@dataclass(frozen=True, repr=False)
class ShownPage:
    """A page with the text ``page``, which a notebook shows in a frame without access to the notebook."""

    page: str
    height: int = HEIGHT

    def __repr__(self) -> str:
        return f"ShownPage({len(self.page)} characters)"

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(self.page)}" style="{style}"></iframe>'
