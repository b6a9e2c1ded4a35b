#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# docs/references.bib has exactly the sources that the tree cites. `keywords` of an entry is the form in which texts
# cite it.
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from architecture import layers  # noqa: E402
from tap import Tap  # noqa: E402

FOLDERS = layers.FOLDERS + ["configs", "docs"]
SUFFIXES = {".h", ".cpp", ".py", ".md", ".yaml", ".lua"}
AUTHOR_YEAR = re.compile(r"([A-Z][a-z]+(?: et al\.| and [A-Z][a-z]+)?,? (?:19|20)\d\d)\b")
MONTHS = "January February March April May June July August September October November December".split()


def entries(text):
    """Key -> its fields."""
    return {key: dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.M))
            for key, body in re.findall(r"^@\w+\{([^,]+),\n(.*?)^\}$", text, re.M | re.S)}


def texts():
    files = [ROOT / "README.md", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
                                   if path.suffix in SUFFIXES)]
    return {path.relative_to(ROOT): path.read_text() for path in files if path != pathlib.Path(__file__).resolve()}


def main():
    tap = Tap()
    bib = (ROOT / "docs" / "references.bib").read_text()
    known = entries(bib)
    tap.check("every entry is read, and each key is there once", len(known) == len(re.findall(r"^@", bib, re.M)) > 40)
    bare = [key for key, fields in known.items() if "title" not in fields
            or not ({"author", "organization", "note"} & set(fields))]
    tap.check("each has a title and authors", not bare, *bare)
    tap.check("braces are closed", bib.count("{") == bib.count("}"))

    all_texts = texts()
    cited = {number: path for path, text in all_texts.items() for number in re.findall(r"\bRFC (\d+)", text)}
    missing = [f"RFC {n}, in {path}" for n, path in sorted(cited.items()) if f"rfc{n}" not in known]
    tap.check(f"{len(cited)} RFCs that are cited are there", len(cited) > 30 and not missing, *missing)
    words = [fields.get("keywords", "") for fields in known.values()]
    wrong = [f"{name}, in {path}" for path, text in all_texts.items() if path.suffix in (".h", ".cpp")
             for name in AUTHOR_YEAR.findall(text) if name.split()[0] not in MONTHS
             and not any(word.endswith(name) for word in words) and not name.startswith("Of ")]
    tap.check("so are papers that are cited by author and year", not wrong, *wrong)
    everything = "\n".join(all_texts.values())
    unused = [key for key, fields in known.items() if not (key[3:] in cited if key.startswith("rfc") else
                                                           fields.get("keywords", key) in everything)]
    tap.check("every entry is cited", not unused, *unused)
    tap.finish()


if __name__ == "__main__":
    main()
