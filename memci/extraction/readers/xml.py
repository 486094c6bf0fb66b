"""Reads XML without entities, and EPUB, which is XML and HTML in a zip."""

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import Block, BlockKind
from memci.extraction.readers.html import read_html

_ENTITIES = "this XML declares entities, which are never expanded: save it without a DOCTYPE"
_BROKEN = "this XML is broken: open it in the program that made it, and save it again"


def read_xml(body: bytes) -> Iterator[Block]:
    """Yield the texts of elements, each after the element's name."""
    for element in _parse(body).iter():
        name = str(element.tag).rpartition("}")[2]
        text, tail = (element.text or "").strip(), (element.tail or "").strip()
        if text:
            yield Block(BlockKind.TEXT, f"{name}: {text}")
        if tail:
            yield Block(BlockKind.TEXT, tail)


def read_epub(archive: ZipFile) -> Iterator[Block]:
    """Yield the chapters in the order of the book's spine, each once."""
    try:
        container = _parse(archive.read("META-INF/container.xml"))
        package = next(_all(container, "rootfile")).get("full-path") or ""
        root = _parse(archive.read(package))
    except (KeyError, StopIteration):
        raise UnreadableDocumentError(
            "this EPUB has no list of its chapters: convert it anew, or save it as HTML"
        ) from None
    folder = posixpath.dirname(package)
    files = {each.get("id"): each.get("href") for each in _all(root, "item")}
    members = set(archive.namelist())
    hrefs = [files.get(each.get("idref")) for each in _all(root, "itemref")]
    names = [posixpath.normpath(posixpath.join(folder, unquote(each))) for each in hrefs if each]
    for name in dict.fromkeys(names):
        if name in members:
            yield from read_html(archive.read(name))


def _parse(body: bytes) -> Any:
    try:
        return fromstring(body)
    except DefusedXmlException:
        raise UnreadableDocumentError(_ENTITIES) from None
    except (ParseError, ValueError, LookupError):
        raise UnreadableDocumentError(_BROKEN) from None


def _all(root: Any, name: str) -> Iterator[Any]:
    return (each for each in root.iter() if str(each.tag).rpartition("}")[2] == name)
