"""Which characters can be drawn on this machine."""

from __future__ import annotations

from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

# Fonts with Chinese that are often there, under the names that they go by.
_WIDE = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Microsoft YaHei",
    "SimHei",
)


class Fonts:
    """matplotlib's own font, and behind it those of the machine that have Chinese."""

    def __init__(self) -> None:
        """Look what is there; no font is assumed but matplotlib's own."""
        there = {font.name for font in fontManager.ttflist}
        self.families = ["DejaVu Sans", *(name for name in _WIDE if name in there)]
        self._fonts = [get_font(findfont(FontProperties(family=each))) for each in self.families]

    def can_draw(self, text: str) -> bool:
        """Tell whether every character has a sign of its own, and none becomes a box."""
        return all(
            any(font.get_char_index(ord(character)) for font in self._fonts) for character in text
        )
