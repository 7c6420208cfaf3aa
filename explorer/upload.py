"""Files from the browser, asked for piece by piece: no message is too large, no file is lost unseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import param

from core.datasets.received import MOST_FILES, check_size
from core.errors import BadInput
from explorer import sheets

# The server drops a websocket message above 20 MB, and all that waits behind it, without a word.
PIECE = 4 * 2**20

# The browser announces names and sizes; the server refuses, or asks for one piece after the other.
_ESM = """
const HINT = "Drop files or a folder here"

function shown(size) {
  if (size < 1024) { return `${size} B` }
  return size < 1048576 ? `${(size / 1024).toFixed(1)} KiB` : `${(size / 1048576).toFixed(1)} MiB`
}

function entries(folder) {
  const reader = folder.createReader()
  const more = (found) => new Promise((resolve, reject) => reader.readEntries((batch) => {
    resolve(batch.length ? more(found.concat(batch)) : found)
  }, reject))
  return more([])
}

async function dropped(transfer) {
  const items = Array.from(transfer.items).map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry())
  const folder = items.length === 1 && items[0] && items[0].isDirectory ? items[0] : null
  if (!folder) { return [Array.from(transfer.files), ""] }
  const inside = (await entries(folder)).filter((entry) => entry.isFile)
  return [await Promise.all(inside.map((entry) => new Promise(entry.file.bind(entry)))), folder.name]
}

function element(tag, attributes, ...children) {
  const made = Object.assign(document.createElement(tag), attributes)
  made.append(...children)
  return made
}

export function render({model}) {
  let chosen = [], turn = ""

  function announce(files, folder) {
    chosen = files.filter((file) => !file.name.startsWith("."))
    turn = `${Date.now()} ${Math.random()}`  // no other rendering of this area may answer for it
    model.send_msg({turn, folder, files: chosen.map((file) => [file.name, file.size])})
  }

  model.on("msg:custom", async (wanted) => {
    if (wanted.turn !== turn) { return }
    let data = null
    try {
      data = await chosen[wanted.file].slice(wanted.from, wanted.to).arrayBuffer()
    } catch (error) {
      console.warn(error)  // moved or changed since it was chosen
    }
    model.send_msg({turn: wanted.turn, file: wanted.file, data})
  })

  const files = element("input", {type: "file", multiple: true, hidden: true, ariaLabel: "Files of a graph"})
  const folder = element("input", {type: "file", webkitdirectory: true, hidden: true, ariaLabel: "Folder of a graph"})
  files.onchange = () => { announce(Array.from(files.files), ""); files.value = "" }
  folder.onchange = () => {
    const top = Array.from(folder.files).filter((file) => file.webkitRelativePath.split("/").length === 2)
    announce(top, top.length ? top[0].webkitRelativePath.split("/")[0] : "")
    folder.value = ""
  }
  const list = element("ul", {})
  const bar = element("progress", {max: 1, ariaLabel: "Share of the files received"})
  const zone = element("div", {className: "zone"},
    element("button", {type: "button", onclick: () => files.click()}, "Choose files"),
    element("button", {type: "button", onclick: () => folder.click()}, "Choose a folder"),
    element("span", {className: "quiet hint"}, HINT), files, folder, bar, list)

  zone.ondragover = (event) => { event.preventDefault(); zone.classList.add("over") }
  zone.ondragleave = () => zone.classList.remove("over")
  zone.ondrop = async (event) => {
    event.preventDefault()
    zone.classList.remove("over")
    announce(...await dropped(event.dataTransfer))
  }

  function show() {
    list.replaceChildren(...model.listing.slice(0, 8).map(([name, size]) =>
      element("li", {}, name, " ", element("span", {className: "quiet"}, shown(size)))))
    const more = model.listing.length - 8
    if (more > 0) { list.append(element("li", {className: "quiet"}, `and ${more} more`)) }
    bar.style.visibility = model.share < 1 ? "visible" : "hidden"
    bar.value = model.share
  }
  model.on(["listing", "share"], show)
  show()
  return zone
}
"""


class Upload(pn.custom.JSComponent):
    """An area that takes one or several files, or a folder's; choosing again replaces them.

    `files`: bytes by name, empty until all have come; `folder`: the chosen folder's name, if any.
    `changed(problem)` is called when they change, with one line when they are refused.
    """

    listing = param.List(default=[], doc="Name and size of each file that has come or is coming.")
    share = param.Number(default=1.0, doc="Share of the bytes received.")

    _esm = _ESM
    _stylesheets = [sheets.UPLOAD]

    def __init__(self, changed: Callable[[str], None], **params: Any) -> None:
        super().__init__(**params)
        self.files: dict[str, bytes] = {}
        self.folder = ""
        self._changed = changed
        self._turn: str | None = None
        self._coming: list[tuple[str, int]] = []
        self._pieces: list[bytearray] = []

    @property
    def busy(self) -> bool:
        """Whether files are still coming."""
        return self._turn is not None

    def clear(self) -> None:
        """Forget every file, also those still coming."""
        self._turn = None
        self.files, self.folder = {}, ""
        self.param.update(listing=[], share=1.0)

    def _handle_msg(self, data: dict[str, Any]) -> None:
        try:
            if "files" in data:
                self._begin(data)
            elif data["turn"] == self._turn:
                self._take(data)
        except BadInput as error:
            self.clear()
            self._changed(str(error))

    def _begin(self, data: dict[str, Any]) -> None:
        coming = [(str(name), int(size)) for name, size in data["files"]]
        if not coming:
            self.clear()
            raise BadInput("the chosen folder: found no file in it, expected those of a graph; choose another one")
        if len(coming) > MOST_FILES:
            raise BadInput(
                f"the chosen files: found {len(coming):,}, expected at most {MOST_FILES}; choose those of one graph"
            )
        check_size(sum(size for _, size in coming))
        again = next((name for place, (name, _) in enumerate(coming) if name in dict(coming[:place])), None)
        if again is not None:
            raise BadInput(f"{again}: found two files of this name, expected one; leave one of them out")
        self.clear()
        self._turn, self._coming, self.folder = data["turn"], coming, str(data["folder"])
        self._pieces = [bytearray()]
        self.param.update(listing=[list(file) for file in coming], share=0.0)
        self._changed("")
        self._next()

    def _take(self, data: dict[str, Any]) -> None:
        place = len(self._pieces) - 1
        name, size = self._coming[place]
        left = size - len(self._pieces[place])
        piece = data["data"]
        if piece is None or data["file"] != place or len(piece) != min(left, PIECE):
            raise BadInput(f"{name}: it could not be read whole, it may have changed or moved; choose it again")
        self._pieces[place] += piece
        total = sum(size for _, size in self._coming)
        self.share = min(sum(map(len, self._pieces)) / total, 0.999) if total else 0.999
        self._next()

    def _next(self) -> None:
        """Ask for the next piece, or hand over the files when all have come."""
        while len(self._pieces[-1]) == self._coming[len(self._pieces) - 1][1]:
            if len(self._pieces) == len(self._coming):
                pairs = zip(self._coming, self._pieces, strict=True)
                self.files = {name: bytes(data) for (name, _), data in pairs}
                self._turn, self._pieces = None, []
                self.share = 1.0
                self._changed("")
                return
            self._pieces.append(bytearray())
        begun = len(self._pieces[-1])
        self._send_msg({"turn": self._turn, "file": len(self._pieces) - 1, "from": begun, "to": begun + PIECE})
