#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What our compat.hpp says of Slurm beyond its public headers, compared with the headers of Slurm's own source.

usage: declarations.py VERSION FOLDER COMPAT...    VERSION such as 24.11.5, FOLDER its source

Prints a line for each declaration that differs, or that Slurm doesn't have. Both sides are read as text: each one of
Slurm's headers needs a configured tree to be compiled, and none of them is C++.
"""
import pathlib
import re
import sys

COMPARISON = r"SLURM_VERSION_NUMBER (>=|<) SLURM_VERSION_NUM\((\d+), (\d+), (\d+)\)"
CONDITION = re.compile(rf"#\s*(?:el)?if {COMPARISON}(?: && {COMPARISON})*\s*$")
KEYWORDS = {"const", "unsigned", "int", "char", "long", "short", "void", "bool"}
# Ours may be vaguer: an opaque pointer instead of a type that we don't declare.
LISTS = {"List", "list_t*"}
# A number of kProtocolRelease, and what Slurm has of that release: ((42 << 8) | 0) or MAKE_SLURM_VER(42).
RELEASE = re.compile(r"SLURM_VERSION_NUM\((\d+), (\d+), 0\)\s*\? (\d+)")
PROTOCOL = r"define SLURM_%02d_%02d_PROTOCOL_VERSION\s+(?:MAKE_SLURM_VER|\()\((\d+)"
MESSAGE = re.compile(r"uint16_t k((?:Request|Response)\w+) = (\d+);")
# Of these we know the first members.
BEGINNINGS = {"job_env_t", "job_resources", "slurmctld_config_t", "slurm_conf_node_t", "slurm_cred_arg_t", "slurm_msg_t",
              "slurmctld_rpc_t"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def of_version(text, version):
    """The lines that the preprocessor would leave for that version of Slurm."""
    out, stack, chosen = [], [], []  # of each open condition: whether its lines count, and whether some have counted
    for line in text.splitlines():
        words = line.split()
        if CONDITION.match(line):
            holds = all((version >= tuple(map(int, wanted))) == (sign == ">=") for sign, *wanted in re.findall(COMPARISON, line))
            if words[0] == "#elif":
                stack[-1] = holds and not chosen[-1]
                chosen[-1] |= holds
            else:
                stack.append(holds)
                chosen.append(holds)
        elif words[:1] in (["#if"], ["#ifdef"], ["#elif"]):
            raise SystemExit(f"{line}: a condition that this test doesn't understand")
        elif words[:1] == ["#else"]:
            stack[-1] = not chosen[-1]
        elif words[:1] == ["#endif"]:
            stack.pop()
            chosen.pop()
        elif all(stack) and not line.startswith("#"):
            out.append(line)
    return "\n".join(out)


def plain_type(text):
    """'const char *' and 'const char*' are one; so are 'struct x' and 'x'."""
    text = re.sub(r"\b(extern|struct|enum)\b", " ", text)
    return re.sub(r"\s*\*\s*", "*", " ".join(text.split())).strip()


def parameter_type(text):
    if "(" in text:
        return plain_type(text)
    words = re.findall(r"\w+|\*|\.\.\.", text)
    named = len(words) > 1 and re.match(r"\w", words[-1]) and words[-1] not in KEYWORDS
    return plain_type(" ".join(words[:-1] if named else words))


def signature(result, parameters):
    types = [parameter_type(p) for p in parameters.split(",")]
    return plain_type(result), tuple(types)


def members(body):
    """(type, name, dimensions) of each member of a struct, in order."""
    found = []
    for member in filter(None, (m.strip() for m in body.split(";"))):
        if function := re.fullmatch(r"(.*)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", member, re.S):
            found.append((signature(function[1], function[3]), function[2], ""))
            continue
        name = re.search(r"(\w+)\s*((?:\[[^\]]*\])*)$", member)
        found.append((plain_type(member[:name.start()]), name[1], name[2].replace(" ", "")))
    return found


def enumerators(body):
    return [e.split("=")[0].strip() for e in body.split(",") if e.strip()]


class Slurm:
    def __init__(self, folder):
        headers = sorted(p for part in ("common", "interfaces", "slurmctld", "slurmd/slurmd", "stepmgr") for p in folder.glob(f"src/{part}/*.h"))
        if not headers:
            raise SystemExit(f"{folder}: no source of Slurm")
        text = "\n".join(p.read_text(errors="replace") for p in headers)
        self.text = without_comments(text.replace("\\\n", " "))  # a macro is one line

    def functions(self, name):
        """All declarations of it: Slurm's short names are another name of slurm_NAME."""
        pattern = r"(?:^|;|\})\s*((?:extern\s+)?[\w\s*]+?[\s*])%s\s*\(([^;{}]*?)\)\s*(?:__attribute__[^;]*)?;"
        for known in (name, name.removeprefix("slurm_")):
            if found := re.findall(pattern % known, re.sub(r"^\s*#.*$", ";", self.text, flags=re.M)):
                return [signature(*declaration) for declaration in found]
        return []

    def variables(self, name):
        return [plain_type(t) for t in re.findall(r"\bextern\s+([\w\s*]+?)\b%s\s*;" % name, self.text)]

    def body(self, kind, name):
        for pattern in (r"typedef\s+%s(?:\s+\w+)?\s*\{([^{}]*)\}\s*%s\s*;", r"\b%s\s+%s\s*\{([^{}]*)\}\s*;"):
            if found := re.search(pattern % (kind, name), self.text):
                return found[1]
        return None


def same_member(ours, theirs):
    return ours == theirs or (ours[0] == "void*" and theirs[0] in LISTS and ours[1:] == theirs[1:])


def differences(ours, slurm):
    """Everything that is declared in the text of a compat.hpp; yields (NAME, what is wrong or None)."""
    found = re.search(r'extern "C" \{(.*?)\n\}\s*(\n|$)', ours, re.S)
    if not found:
        return
    block = found[1].replace("SLURMK8S_WEAK", "")
    for kind, name, body in re.findall(r"\b(struct|enum) (\w+) \{([^{}]*)\}", block):
        theirs = slurm.body(kind, name)
        if theirs is None:
            yield name, f"Slurm has no {kind} of that name"
        elif kind == "enum":
            mine, known = enumerators(body), enumerators(theirs)
            yield name, None if known[:len(mine)] == mine else f"{mine}, Slurm: {known}"
        else:
            pairs = list(zip(mine := members(body), known := members(theirs)))
            wrong = next((p for p in pairs if not same_member(*p)), None)
            if len(known) < len(mine):
                yield name, f"{len(mine)} members, Slurm: {len(known)}"
            elif name not in BEGINNINGS and len(known) != len(mine):
                yield name, f"Slurm has further members: {known[len(mine):]}"
            else:
                yield name, wrong and f"{wrong[0]}, Slurm: {wrong[1]}"
    block = re.sub(r"\b(struct|enum) \w+ \{[^{}]*\};", "", block)
    for result, name, parameters in re.findall(r"^([\w* ]+?[ *])(\w+)\(([^)]*)\)\s*;", block, re.M):
        mine, known = signature(result, parameters), slurm.functions(name)
        yield name, None if mine in known else f"{mine}, Slurm: {known or 'nothing of that name'}"
    for kind, name in re.findall(r"^extern ([\w* ]+?[ *])(\w+)\s*;", block, re.M):
        known = slurm.variables(name)
        yield name, None if plain_type(kind) in known else f"{plain_type(kind)}, Slurm: {known or 'nothing of that name'}"


def protocols(ours, slurm):
    """The releases' numbers in kProtocolRelease; a release that this Slurm is too old to know is passed over."""
    for major, minor, number in RELEASE.findall(ours):
        if known := re.search(PROTOCOL % (int(major), int(minor)), slurm.text):
            yield f"protocol of {major}.{minor}", None if known[1] == number else f"{number}, Slurm: {known[1]}"


def messages(ours, slurm):
    """The numbers of messages: kRequestPing is REQUEST_PING."""
    known, number = {}, -1
    for item in filter(None, map(str.strip, (slurm.body("enum", "slurm_msg_type_t") or "").split(","))):
        name, _, value = map(str.strip, item.partition("="))
        number = int(value) if value else number + 1
        known[name] = number
    for name, number in MESSAGE.findall(ours):
        theirs = known.get(re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper())
        yield f"k{name}", None if theirs == int(number) else f"{number}, Slurm: {theirs}"


def main():
    version = tuple(map(int, sys.argv[1].split(".")))
    slurm = Slurm(pathlib.Path(sys.argv[2]))
    checked = wrong = 0
    for path in sys.argv[3:]:
        text = of_version(without_comments(pathlib.Path(path).read_text()), version)
        for name, difference in [*differences(text, slurm), *protocols(text, slurm), *messages(text, slurm)]:
            checked += 1
            if difference:
                wrong += 1
                print(f"{path}: {name}: {difference}")
    if checked == 0:
        raise SystemExit("nothing is declared there")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
