"""Stylesheets of single views; what all views share stands in `explorer.style`."""

from __future__ import annotations

from explorer.style import TABLE_HTML, TEXT

METHODS = (
    TABLE_HTML
    + """
td small { display: block; }
td { vertical-align: top; }
td:nth-child(6), td:nth-child(9) { padding-left: 8px; }
"""
)

HISTORY = (
    TABLE_HTML
    + """
td:nth-child(6) { padding-left: 8px; }
th:nth-child(2), th:nth-child(3), td:nth-child(2), td:nth-child(3) { text-align: left; }
td:nth-child(3) { white-space: normal; overflow-wrap: anywhere; min-width: 12em; }
"""
)

GAUGE = (
    TEXT
    + """
.bar { height: 14px; border-radius: 7px; border: 1px solid var(--px-muted); overflow: hidden; margin: 6px 0; }
.spent { height: 100%; background: repeating-linear-gradient(135deg, var(--px-owner) 0 6px, var(--px-muted) 6px 9px); }
p b { font-size: 18px; }
"""
)

CARD = (
    TEXT
    + """
.card { border: 2px solid var(--px-same); border-radius: 8px; padding: 10px 14px; margin: 8px 0; }
.card.demonstration { border-style: dashed; border-color: var(--px-muted); }
header { display: flex; justify-content: space-between; gap: 12px; }
.stamp { border: 1px solid currentColor; border-radius: 4px; padding: 0 8px; font-size: 12.5px; }
.said { font-size: 16px; margin: 6px 0; overflow-wrap: anywhere; }
.quiet { overflow-wrap: anywhere; margin: 2px 0; }
pre { overflow: auto; max-height: 320px; font-size: 12px; border: 1px solid var(--px-grid); padding: 8px; }
summary { cursor: pointer; font-size: 13px; }
"""
)

DIALOG_TEXT = (
    TEXT
    + """
.facts { border-collapse: collapse; margin: 8px 0; font-size: 14px; }
.facts th, .facts td { text-align: left; font-weight: 400; padding: 2px 18px 2px 0; vertical-align: top; }
.facts th { color: var(--px-muted); white-space: nowrap; }
.facts td { overflow-wrap: anywhere; }
ul { margin: 4px 0; padding-left: 18px; font-size: 13.5px; }
summary { cursor: pointer; font-size: 13.5px; }
p.problem { color: var(--px-flip); overflow-wrap: anywhere; }
"""
)

UPLOAD = (
    TEXT
    + """
.zone {
  display: grid; grid-template-columns: auto auto minmax(0, 1fr); gap: 6px 10px; align-items: center;
  border: 1px dashed var(--px-muted); border-radius: 8px; padding: 12px; min-height: 96px; box-sizing: border-box;
  align-content: start;
}
.zone.over { border-color: var(--px-primary); background: color-mix(in srgb, var(--px-primary) 9%, transparent); }
button {
  font: inherit; font-size: 14px; color: var(--px-primary); background: transparent; cursor: pointer;
  border: 1px solid var(--px-primary); border-radius: 4px; padding: 4px 12px; min-height: 34px;
}
button:hover { background: color-mix(in srgb, var(--px-primary) 9%, transparent); }
button:focus-visible { outline: 2px solid var(--px-primary); outline-offset: 2px; }
progress { grid-column: 1 / -1; width: 100%; height: 4px; appearance: none; border: none; background: var(--px-grid); }
progress::-webkit-progress-bar { background: var(--px-grid); }
progress::-webkit-progress-value { background: var(--px-primary); }
progress::-moz-progress-bar { background: var(--px-primary); }
ul {
  grid-column: 1 / -1; list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 2px 16px;
  font-size: 13px; min-height: 1.45em; overflow-wrap: anywhere;
}
@media (max-width: 520px) { .zone { grid-template-columns: auto auto; } .hint { grid-column: 1 / -1; } }
"""
)

OPENING = (
    TEXT
    + """
h3 { font-size: 14px; margin: 8px 0 2px; font-weight: 600; }
p.said { font-size: 14px; min-height: 2.9em; }
p.said[role=alert] { color: var(--px-flip); overflow-wrap: anywhere; }
.busy::before {
  content: ""; display: inline-block; width: 10px; height: 10px; margin-right: 8px; border-radius: 50%;
  border: 2px solid var(--px-primary); border-right-color: transparent; animation: turn 0.9s linear infinite;
}
@keyframes turn { to { transform: rotate(360deg); } }
@media (prefers-reduced-motion: reduce) { .busy::before { animation: none; } }
:host(.stale) { opacity: 0.55; }
.beside {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 8px 24px;
  align-items: start;
}
.warning { color: var(--px-flip); }
ul { margin: 4px 0 0; padding-left: 18px; font-size: 14px; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; }
th, td { padding: 3px 18px 3px 0; text-align: left; font-weight: 400; }
th, td { border-bottom: 1px solid color-mix(in srgb, var(--px-muted) 40%, transparent); }
thead th { color: var(--px-muted); }
"""
)

OPENING_FIELDS = """
:host { display: grid !important; grid-template-columns: repeat(3, minmax(0, 1fr)); column-gap: 10px; }
@media (max-width: 600px) { :host { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
"""

SAVINGS = """
h3 { font-size: 14px; margin: 0 0 4px; font-weight: 600; }
ul { margin: 0 0 2px; padding-left: 18px; font-size: 14px; }
p.quiet { min-height: 2.9em; }
"""
