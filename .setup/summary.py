"""Says what a ctest run skipped and why, what failed, and ends with the counts. Argument: the run's JUnit file."""

import collections
import re
import sys
import xml.etree.ElementTree as xml


def skip_reason(case):
    """The message of GTEST_SKIP, which follows the line that gives its place, or what a script printed last."""
    output = case.findtext("system-out") or ""
    match = re.search(r"^\S+:\d+: Skipped\n(.*?)(?:\n\n|\n\[|\Z)", output, re.MULTILINE | re.DOTALL)
    if match and match.group(1).strip():
        return " ".join(match.group(1).split())
    skipped = case.find("skipped")
    if skipped is not None and "SKIP_RETURN_CODE" in (skipped.get("message") or "") and output.strip():
        return output.strip().splitlines()[-1]
    return (skipped is not None and skipped.get("message")) or "no reason given"


def main(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", "?", file.read())  # tests print what XML does not allow
    cases = xml.fromstring(text.encode()).findall("testcase")
    status = {"run": "passed", "fail": "failed", "notrun": "skipped", "disabled": "skipped"}
    groups = collections.defaultdict(list)
    for case in cases:
        groups[status.get(case.get("status"), "failed")].append(case)

    reasons = collections.defaultdict(list)
    for case in groups["skipped"]:
        reasons[skip_reason(case)].append(case.get("name"))
    for reason, names in sorted(reasons.items()):
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        print(f"skipped {len(names)}: {reason} ({shown})")
    for case in groups["failed"]:
        print(f"failed: {case.get('name')}")

    counts = {name: len(groups[name]) for name in ("passed", "failed", "skipped")}
    if not cases:
        print("no test was chosen: ./test -N lists the names of all; -R takes a part of one, with its capitals")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["failed"] or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
