#!/usr/bin/env python3
"""Derives the table of Unicode's root collation from libicu 72 and writes it as Swift.

    derive.py FILE          writes the Swift file
    derive.py --check FILE  fails if the file differs; says so and passes where libicu is not 72

The table holds the collation elements of every code point and contraction that no formula gives. Its bytes, before
gzip and base64, are unsigned varints in columns; a signed number n is 2n, or -2n-1 below zero:

    1 ranked     code points with one element of common weights, in the order of their primaries:
                 count, then runs of one block (their count, then blocks, then lengths), then the code points' steps
                 (signed) from the one before in the same block, then steps of primary >> 8
    2 others     count, then code point steps, then flags, lengths
    3 context    count, then the first code points, second ones, third ones (0 for none), lengths;
                 a prefix context is written as 0, the code point, the one in front of it
    4 elements   of 2 and 3 in this order: primary steps (signed), secondaries, tertiaries
    5 classes    count, then code point steps, then the classes of first and last mark as two bytes' number
    6 lead bytes 256 flags: whether equal lead bytes of primaries are written once
"""
import base64, bisect, ctypes, gzip, itertools, sys

VERSION = 72
LENGTH = 100
BLOCKS = [0, 0x3400, 0x4E00, 0xA000, 0x20000, 0x2A700, 0x2B740, 0x2B820, 0x2CEB0, 0x2F800, 0x30000, 0x31350]
LEAD, TRAIL = 0x1010, 0x1011  # UCHAR_LEAD_CANONICAL_COMBINING_CLASS and UCHAR_TRAIL_…


class ICU:
    """The root collator of libicu and the functions that are needed of it."""

    def __init__(self):
        self.i18n = ctypes.CDLL(f"libicui18n.so.{VERSION}")
        self.uc = ctypes.CDLL(f"libicuuc.so.{VERSION}")
        self.status = ctypes.c_int(0)
        self.code = ctypes.byref(self.status)
        self.open = self.function(self.i18n, "ucol_open", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.collator = ctypes.c_void_p(self.open(b"", self.code))
        get = self.function(self.i18n, "ucol_openElements", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                            ctypes.c_int, ctypes.c_void_p)
        self.iterator = ctypes.c_void_p(get(self.collator, ctypes.create_string_buffer(2), 1, self.code))
        self.set_text = self.function(self.i18n, "ucol_setText", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int,
                                      ctypes.c_void_p)
        self.next = self.function(self.i18n, "ucol_next", ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)
        self.property = self.function(self.uc, "u_getIntPropertyValue", ctypes.c_int, ctypes.c_int, ctypes.c_int)

    @staticmethod
    def function(library, name, result, *arguments):
        found = getattr(library, f"{name}_{VERSION}")
        found.restype, found.argtypes = result, arguments
        return found

    def version(self):
        bytes4 = (ctypes.c_uint8 * 4)()
        self.function(self.i18n, "ucol_getVersion", None, ctypes.c_void_p, ctypes.c_void_p)(self.collator, bytes4)
        return "icu " + ".".join(map(str, bytes4))

    def elements(self, text):
        """The elements of a string as (primary, secondary, tertiary), those without weight left out."""
        units = text.encode("utf-16-le", "surrogatepass")
        self.set_text(self.iterator, units, len(units) // 2, self.code)
        found = []
        for _ in range(64):
            half = self.next(self.iterator, self.code)
            if half == 0xFFFFFFFF:
                break
            if half & 0xC0 == 0xC0:  # the second half of the element before
                primary, secondary, tertiary = found[-1]
                found[-1] = (primary | half >> 16, secondary | half >> 8 & 0xFF, tertiary | half & 0x3F)
            else:
                found.append((half & 0xFFFF0000, half & 0xFF00, (half & 0x3F) << 8))
        if self.status.value > 0:
            sys.exit(f"libicu failed with {self.status.value} for {text!r}")
        return tuple(element for element in found if any(element))

    def strings(self, with_prefixes):
        """All contractions of the collator, and with prefixes its contexts too."""
        new = self.function(self.uc, "uset_openEmpty", ctypes.c_void_p)
        result = ctypes.c_void_p(new())
        self.function(self.i18n, "ucol_getContractionsAndExpansions", None, ctypes.c_void_p, ctypes.c_void_p,
                      ctypes.c_void_p, ctypes.c_int8, ctypes.c_void_p)(self.collator, result, None, with_prefixes, self.code)
        count = self.function(self.uc, "uset_getItemCount", ctypes.c_int, ctypes.c_void_p)(result)
        item = self.function(self.uc, "uset_getItem", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
                             ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)
        found = set()
        for index in range(count):
            start, end = ctypes.c_int(), ctypes.c_int()
            room = ctypes.create_string_buffer(64)
            length = item(result, index, ctypes.byref(start), ctypes.byref(end), room, 32, self.code)
            if length >= 2:
                found.add(room.raw[:2 * length].decode("utf-16-le"))
            elif length == 0:
                sys.exit(f"U+{start.value:04X} is in the set of contractions")
        return found

    def classes(self, point):
        return self.property(point, LEAD), self.property(point, TRAIL)

    def key(self, text):
        units = text.encode("utf-16-le")
        room = ctypes.create_string_buffer(256)
        length = self.function(self.i18n, "ucol_getSortKey", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p,
                               ctypes.c_int, ctypes.c_char_p, ctypes.c_int)(
                                   self.collator, units, len(units) // 2, room, 256)
        return room.raw[:length]


def unassigned(point):
    """The element of a code point that the collation doesn't know."""
    point += 1
    low, rest = 2 + point % 18 * 14, point // 18
    return ((0xFE000000 | 4 + rest // 254 << 16 | 2 + rest % 254 << 8 | low, 0x500, 0x500),)


def hangul(point):
    """The Jamo of a syllable."""
    index = point - 0xAC00
    parts = [0x1100 + index // 588, 0x1161 + index % 588 // 28] + ([0x11A7 + index % 28] if index % 28 else [])
    return "".join(map(chr, parts))


def compressible(icu, samples):
    """The lead bytes that are written once for neighbours: two of one lead byte then share it in the key."""
    flags = [0] * 256
    for lead, points in samples.items():
        for point in points[:4]:
            alone, twice = icu.key(chr(point)), icu.key(chr(point) * 2)
            level = lambda key: key[:key.index(1)]
            if level(twice) != level(alone) * 2:
                flags[lead] = 1
    return flags


class Packer:
    def __init__(self):
        self.bytes = bytearray()

    def column(self, numbers):
        for number in numbers:
            while number >= 0x80:
                self.bytes.append(number & 0x7F | 0x80)
                number >>= 7
            self.bytes.append(number)


def signed(number):
    return 2 * number if number >= 0 else -2 * number - 1


def steps(numbers):
    return [after - before for before, after in zip([0] + numbers, numbers)]


def derive(icu):
    contractions = icu.strings(False)
    contexts = icu.strings(True) - contractions
    starters = {text[0] for text in contractions} | {text[-1] for text in contexts}
    ranked, others = [], []
    samples, classes = {}, []
    for point in range(0x110000):
        if 0xD800 <= point < 0xE000:
            continue
        elements = icu.elements(chr(point))
        for lead, trail in [icu.classes(point)]:
            if lead or trail:
                classes.append((point, lead << 8 | trail))
        if 0xAC00 <= point <= 0xD7A3:
            if elements != icu.elements(hangul(point)):
                sys.exit(f"U+{point:04X} is not its Jamo")
            continue
        if len(elements) == 1 and elements[0][0]:
            samples.setdefault(elements[0][0] >> 24, []).append(point)
        if elements == unassigned(point):
            continue
        simple = len(elements) == 1 and elements[0][1:] == (0x500, 0x500) and elements[0][0] & 0xFF == 0
        marked = dict(classes[-1:]).get(point, 0) >> 8
        tail = any(chr(point) in text[1:] for text in contractions) if point < 0x20000 else False
        if simple and not marked and not tail and chr(point) not in starters:
            ranked.append((elements[0][0] >> 8, point))
        else:
            flags = (1 if chr(point) in starters else 0) | (2 if marked or tail else 0)
            others.append((point, flags, elements))
    ranked.sort()
    strings = [(*map(ord, text), *[0] * (3 - len(text)), icu.elements(text)) for text in sorted(contractions)]
    for text in sorted(contexts):
        front, point = text
        whole, first = icu.elements(text), icu.elements(front)
        if whole[:len(first)] != first:
            sys.exit(f"{text!r} is no prefix context")
        strings.append((0, ord(point), ord(front), whole[len(first):]))
    return ranked, others, strings, classes, compressible(icu, samples)


def pack_points(points, packer):
    """Han stand in the order of radicals and strokes, in which each of Unicode's blocks is nearly ascending."""
    blocks = [bisect.bisect(BLOCKS, point) - 1 for point in points]
    runs = [(block, len(list(run))) for block, run in itertools.groupby(blocks)]
    packer.column([len(runs)])
    packer.column([block for block, _ in runs])
    packer.column([length for _, length in runs])
    last, found = [0] * len(BLOCKS), []
    for block, point in zip(blocks, points):
        found.append(signed(point - last[block]))
        last[block] = point
    packer.column(found)


def pack(icu):
    ranked, others, strings, classes, flags = derive(icu)
    packer = Packer()
    packer.column([len(ranked)])
    pack_points([point for _, point in ranked], packer)
    packer.column(steps([primary for primary, _ in ranked]))
    packer.column([len(others)])
    packer.column(steps([point for point, _, _ in others]))
    packer.column([flags for _, flags, _ in others])
    packer.column([len(elements) for _, _, elements in others])
    packer.column([len(strings)])
    for index in range(3):
        packer.column([entry[index] for entry in strings])
    packer.column([len(entry[3]) for entry in strings])
    elements = [element for _, _, found in others for element in found]
    elements += [element for entry in strings for element in entry[3]]
    packer.column(map(signed, steps([primary for primary, _, _ in elements])))
    packer.column([secondary for _, secondary, _ in elements])
    packer.column([tertiary for _, _, tertiary in elements])
    packer.column([len(classes)])
    packer.column(steps([point for point, _ in classes]))
    packer.column([both for _, both in classes])
    packer.column(flags)
    print(f"{len(ranked)} ranked, {len(others)} others, {len(strings)} contractions and contexts, {len(elements)} "
          f"elements, {len(classes)} classes, lead bytes {[lead for lead in range(256) if flags[lead]]}; "
          f"at most {max(len(found) for _, _, found in others)} elements", file=sys.stderr)
    return bytes(packer.bytes)


def swift(icu):
    raw = pack(icu)
    packed = gzip.compress(raw, 9, mtime=0)
    text = base64.b64encode(packed).decode()
    print(f"{len(raw)} bytes, {len(packed)} packed", file=sys.stderr)
    lines = [text[start:start + LENGTH] for start in range(0, len(text), LENGTH)]
    body = "\\\n".join("        " + line for line in lines)
    return f'''// Length: generated by Scripts/collation/derive.py from libicu {VERSION}; see LICENSES/Unicode-3.0.txt.
// swift-format-ignore-file

/// The table of Unicode's root collation, packed.
enum CollationData {{
    /// The version of the order.
    static let version = "{icu.version()}"
    /// The table's bytes: gzip in base64.
    static let packed: StaticString = """
{body}
        """
}}
'''


def main():
    check = sys.argv[1] == "--check"
    path = sys.argv[-1]
    try:
        icu = ICU()
    except OSError:
        if not check:
            raise
        print(f"not checked: libicu {VERSION} is not installed")
        return
    text = swift(icu)
    if not check:
        with open(path, "w") as file:
            file.write(text)
        return
    with open(path) as file:
        if file.read() != text:
            sys.exit(f"{path} is not what libicu {VERSION} gives: run `make collation`")
    print(f"{path} is what libicu {VERSION} gives")


main()
