# SPDX-License-Identifier: BSD-3-Clause
# Draws a table of cheaters as an SVG file: two points per kind, the cheater's share and the honest hosts'.
import math
from html import escape

LINE, LEFT, WIDTH, TOP = 15, 130, 520, 46  # px
RIGHT, BOTTOM = 16, 22
LEAST, MOST = 0.01, 6.0  # ratios at the ends of the axis
TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3)
CHEATER, HONEST, GRID, TEXT = "#c0392b", "#2471a3", "#d5d8dc", "#333333"


def x_of(ratio):
    place = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return round(LEFT + WIDTH * place, 1)


def text(x, y, words, anchor="start", colour=TEXT):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def draw(rows, title):
    """`rows`: [(name, cheater's share, least share of honest hosts)], ratios to the entitled share."""
    height = TOP + LINE * len(rows) + BOTTOM
    width = LEFT + WIDTH + RIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'font-family="sans-serif" font-size="10">',
           f"<title>{escape(title)}</title>", f'<rect width="{width}" height="{height}" fill="white"/>',
           text(8, 15, title), text(LEFT, 31, "cheater", colour=CHEATER),
           text(LEFT + 60, 31, "honest host with the least", colour=HONEST)]
    for tick in TICKS:
        stroke = TEXT if tick == 1 else GRID
        x = x_of(tick)
        out.append(f'<line x1="{x}" y1="{TOP - 6}" x2="{x}" y2="{height - BOTTOM}" stroke="{stroke}"/>')
        out.append(text(x, height - 8, f"{tick:g}", "middle"))
    for i, (name, cheater, honest) in enumerate(rows):
        y = TOP + LINE * i + LINE / 2
        out.append(text(LEFT - 8, y + 3, name, "end"))
        out.append(f'<line x1="{x_of(honest)}" y1="{y}" x2="{x_of(cheater)}" y2="{y}" stroke="{GRID}"/>')
        out += [f'<circle cx="{x_of(ratio)}" cy="{y}" r="3.5" fill="{colour}"/>'
                for ratio, colour in ((honest, HONEST), (cheater, CHEATER))]
    return "\n".join([*out, "</svg>"]) + "\n"
