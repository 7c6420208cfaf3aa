"""The icons of buttons, drawn here: those that panel-material-ui knows by name are letters of a font on a server."""

from __future__ import annotations

_BEGIN = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">'

ROWS = f'{_BEGIN}<path d="M3 4h18v4H3zM3 10h18v4H3zM3 16h18v4H3z"/></svg>'

UPLOAD = (
    f'{_BEGIN}<path d="M6 3h7l5 5v13H6z" fill="none" stroke="#000" stroke-width="2" stroke-linejoin="round"/>'
    '<path d="M12 18v-6M9 14.5l3-3 3 3" fill="none" stroke="#000" stroke-width="2"/></svg>'
)
